package resp

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"fiveways/internal/broker"
)

// play does commands, each with its reply behind →, on one connection.
func (c *client) play(script string) {
	c.t.Helper()
	for line := range strings.Lines(script) {
		if command, want, ok := strings.Cut(strings.TrimSpace(line), " → "); ok {
			c.wants(command, want)
		}
	}
}

func TestSemaphores(t *testing.T) {
	c := startNode(t, Options{}).dial()
	c.play(`
		SEM.CREATE crowd ACTIVE 2 TRYRELEASE 1 → 1
		SEM.CREATE crowd ACTIVE 7 → 0
		SEM.ENQUEUE crowd a 1 b 2 c 3 → ["WAIT" "ACQUIRED" "ACQUIRED"]
		SEM.INFO crowd → ["key" "crowd" "active" 2 "try_release" 1 "order" "desc" "lease" 0 "waiting" 1 "acquired" 2 "try_release_asked" 0]
		SEM.STATUS crowd a b nobody → ["WAIT" "ACQUIRED" nil]
		SEM.ENQUEUE crowd LEASE 5000 a 9 → ["WAIT"]
		SEM.STATUS crowd b → ["TRY_RELEASE"]
		SEM.RENEW crowd a b c nobody → [0 1 1 0]
		SEM.RELEASE crowd b b nobody → 1
		SEM.STATUS crowd a b c → ["ACQUIRED" nil "ACQUIRED"]
		SEM.SET crowd ACTIVE 1 TRYRELEASE 5 → +OK
		SEM.STATUS crowd a c → ["ACQUIRED" "TRY_RELEASE"]
		SEM.SET crowd ORDER ASC → -ERR the order cannot change while there are tasks
		SEM.DEL crowd IFEMPTY → -NOTEMPTY the semaphore has tasks
		SEM.DEL crowd → 1
		SEM.DEL crowd → 0
		SEM.CREATE low ORDER ASC LEASE 60000 → 1
		SEM.ENQUEUE low DETAIL 5 LEASE 4 → ["ACQUIRED" "ACQUIRED"]
		SEM.STATUS low DETAIL → ["ACQUIRED"]
		SEM.INFO low → ["key" "low" "active" 1000 "try_release" 900 "order" "asc" "lease" 60000 "waiting" 0 "acquired" 2 "try_release_asked" 0]
	`)
	got := c.do("SEM.STATUS", "low", "DETAIL", "LEASE", "nobody")
	if !strings.HasPrefix(got, `[["task" "LEASE" "status" "ACQUIRED" "priority" "4" "position" 1 "enqueued" 1`) || !strings.HasSuffix(got, "] nil]") {
		t.Error(got)
	}
	c.wants("HELLO 3", c.do("HELLO", "3"))
	if got := c.do("SEM.TASKS", "low", "COUNT", "1"); !strings.HasPrefix(got, `[2 [{"task" "LEASE" "status" "ACQUIRED" "priority" ,4 "position" 1`) {
		t.Error(got)
	}
	if got := c.do("SEM.TASKS", "low", "FROM", "2", "STATUS", "acquired"); !strings.HasPrefix(got, `[0 [{"task" "DETAIL" "status" "ACQUIRED" "priority" ,5 "position" 2`) {
		t.Error(got)
	}
	c.wants("SEM.TASKS low STATUS WAIT STATUS TRY_RELEASE", "[0 []]")
}

func TestSemaphoreErrors(t *testing.T) {
	c := startNode(t, Options{}).dial()
	c.play(`
		SEM.CREATE s → 1
		SEM.INFO → -ERR wrong number of arguments for 'sem.info' command
		SEM.INFO nowhere → -NOSEM no such semaphore
		SEM.SET nowhere → -NOSEM no such semaphore
		SEM.ENQUEUE nowhere t 1 → -NOSEM no such semaphore
		SEM.ACQUIRE nowhere t 1 → -NOSEM no such semaphore
		SEM.RELEASE nowhere t → -NOSEM no such semaphore
		SEM.TASKS nowhere → -NOSEM no such semaphore
		SEM.ENQUEUE s t → -ERR wrong number of arguments for 'sem.enqueue' command
		SEM.ENQUEUE s t 1 u → -ERR wrong number of arguments for 'sem.enqueue' command
		SEM.ENQUEUE s LEASE 5 → -ERR wrong number of arguments for 'sem.enqueue' command
		SEM.ENQUEUE s LEASE x t 5 → -ERR value is not an integer or out of range
		SEM.ENQUEUE s t high → -ERR value is not a valid float
		SEM.ENQUEUE s t nan → -ERR value is not a valid float
		SEM.ENQUEUE s t inf → -ERR value is not a valid float
		SEM.ENQUEUE s t 1e999 → -ERR value is not a valid float
		SEM.ACQUIRE s t → -ERR wrong number of arguments for 'sem.acquire' command
		SEM.ACQUIRE s t 1 FAST → -ERR syntax error near 'FAST'
		SEM.ACQUIRE s t 1 TIMEOUT → -ERR syntax error, something is missing after 'TIMEOUT'
		SEM.ACQUIRE s t 1 TIMEOUT -1 → -ERR value is out of range, must be positive
		SEM.CREATE a/b → -ERR invalid key
		SEM.CREATE t ACTIVE -1 → -ERR value is out of range, must be positive
		SEM.CREATE t ACTIVE 2147483648 → -ERR value is not an integer or out of range
		SEM.CREATE t ORDER UP → -ERR syntax error near 'UP'
		SEM.CREATE t NX → -ERR syntax error near 'NX'
		SEM.DEL s FORCE → -ERR syntax error near 'FORCE'
		SEM.TASKS s STATUS running → -ERR syntax error near 'running'
		SEM.TASKS s COUNT 0 → -ERR value is out of range, must be positive
		SEM.LIST ALL → -ERR syntax error near 'ALL'
		SEM.WATCH s TASK → -ERR syntax error, something is missing after 'TASK'
		SEM.WATCH a/b → -ERR invalid key
		SEM.UNWATCH s FOR → -ERR syntax error near 'FOR'
	`)
	for _, args := range [][]string{{"SEM.CREATE", ""}, {"SEM.WATCH", ""}, {"SEM.ENQUEUE", "s", "", "1"}, {"SEM.ENQUEUE", "s", "a\x00b", "1"}} {
		if got := c.do(args...); !strings.HasPrefix(got, "-ERR ") {
			t.Errorf("%q: %s", args, got)
		}
	}
	c.wants("SEM.INFO s", `["key" "s" "active" 1000 "try_release" 900 "order" "desc" "lease" 0 "waiting" 0 "acquired" 0 "try_release_asked" 0]`)
}

func TestSemaphoreList(t *testing.T) {
	c := startNode(t, Options{}).dial()
	for i := range 30 {
		c.wants(fmt.Sprintf("SEM.CREATE k%02d", i), "1")
	}
	keys := func(reply string) (found []string) {
		for word := range strings.FieldsSeq(reply) {
			if strings.HasPrefix(word, `"k`) && word != `"key"` {
				found = append(found, strings.Trim(word, `"`))
			}
		}
		return found
	}
	got := c.do("SEM.LIST", "COUNT", "20", "AFTER", "k04")
	if !strings.HasPrefix(got, `["k24" [`) || len(keys(got)) != 20 {
		t.Error(got)
	}
	got = c.do("SEM.LIST", "MATCH", "k?7", "COUNT", "100")
	if !strings.HasPrefix(got, `[nil [`) || strings.Join(keys(got), " ") != "k07 k17 k27" {
		t.Error(got)
	}
	c.wants("SEM.LIST MATCH x*", "[nil []]")
}

// TestSemaphorePipeline: requests about queues and about semaphores are done in the order in which they came.
func TestSemaphorePipeline(t *testing.T) {
	c := startNode(t, Options{}).dial()
	c.send(encode("SEM.CREATE", "s", "ACTIVE", "1") + encode("LPUSH", "q", "x") + encode("PING") + encode("SEM.ENQUEUE", "s", "a", "1") +
		encode("SEM.STATUS", "s", "a") + encode("SEM.RELEASE", "s", "a") + encode("SEM.STATUS", "s", "a") + encode("LLEN", "q") +
		encode("SEM.NONE") + encode("SEM.ACQUIRE", "s", "b", "1") + encode("SEM.ACQUIRE", "s", "c", "1", "TIMEOUT", "1") + encode("SEM.STATUS", "s", "b", "c"))
	for _, want := range []string{
		"1", "1", "+PONG", `["ACQUIRED"]`, `["ACQUIRED"]`, "1", "[nil]", "1", "-ERR unknown command 'SEM.NONE', with args beginning with: ", `"ACQUIRED"`, "nil",
		`["ACQUIRED" "WAIT"]`,
	} {
		if got := c.reply(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestSemaphoreTransaction: EXEC does what is about queues and what is about semaphores at one moment, or nothing of it.
func TestSemaphoreTransaction(t *testing.T) {
	n := startNode(t, Options{})
	c, other := n.dial(), n.dial()
	c.play(`
		SEM.CREATE s ACTIVE 1 → 1
		MULTI → +OK
		LPUSH q x → +QUEUED
		SEM.ENQUEUE s a 1 → +QUEUED
		SEM.ENQUEUE nowhere a 1 → +QUEUED
		SEM.ACQUIRE s b 1 → +QUEUED
		SEM.STATUS s a b → +QUEUED
		SEM.LIST MATCH x* → +QUEUED
		LLEN q → +QUEUED
		EXEC → [1 ["ACQUIRED"] -NOSEM no such semaphore nil ["ACQUIRED" "WAIT"] [nil []] 1]
		WATCH q → +OK
		MULTI → +OK
		SEM.RELEASE s a → +QUEUED
		LPUSH q y → +QUEUED
	`)
	other.wants("LPUSH q z", "2")
	c.play(`
		EXEC → nilarray
		SEM.STATUS s a b → ["ACQUIRED" "WAIT"]
		LLEN q → 2
		WATCH q → +OK
		MULTI → +OK
		SEM.RELEASE s a → +QUEUED
		EXEC → [1]
		SEM.STATUS s a b → [nil "ACQUIRED"]
		MULTI → +OK
		SEM.WATCH s → -ERR Command not allowed inside a transaction
		EXEC → -EXECABORT Transaction discarded because of previous errors.
	`)
}

func TestSemaphoreAcquire(t *testing.T) {
	n := startNode(t, Options{})
	c, waits := n.dial(), n.dial()
	c.play(`
		SEM.CREATE s ACTIVE 1 TRYRELEASE 0 → 1
		SEM.ACQUIRE s a 1 → "ACQUIRED"
		SEM.ACQUIRE s b 1 TIMEOUT 1 → nil
		SEM.STATUS s a b → ["ACQUIRED" "WAIT"]
	`)
	for _, tc := range []struct{ name, release, want string }{
		{"a place is free", "SEM.RELEASE s a", `"ACQUIRED"`},
		{"somebody releases it", "SEM.RELEASE s b", "-NOTASK the task was released"},
		{"the semaphore is deleted", "SEM.DEL s", "-NOSEM the semaphore was deleted"},
	} {
		c.do("SEM.RELEASE", "s", "a", "b")
		c.wants("SEM.ENQUEUE s a 9", `["ACQUIRED"]`)
		waits.send(encode("SEM.ACQUIRE", "s", "b", "1"))
		n.blocked(1)
		c.wants(tc.release, "1")
		if got := waits.reply(); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
	c.play(`
		SEM.CREATE s ACTIVE 1 TRYRELEASE 1 → 1
		SEM.ENQUEUE s a 1 b 2 → ["WAIT" "ACQUIRED"]
		SEM.ENQUEUE s a 3 → ["WAIT"]
		SEM.ACQUIRE s b 2 → "TRY_RELEASE"
	`)
}

// blocked waits until so many clients wait.
func (n *node) blocked(want int) {
	n.t.Helper()
	c := n.dial()
	defer c.nc.Close()
	for !strings.Contains(c.do("INFO", "clients"), fmt.Sprintf("blocked_clients:%d\\r", want)) {
	}
}

// TestSemaphoreWaitEnds: a client that waits may be unblocked, may send on, and may leave; the task keeps standing in line.
func TestSemaphoreWaitEnds(t *testing.T) {
	n := startNode(t, Options{})
	c := n.dial()
	c.play(`
		SEM.CREATE s ACTIVE 1 → 1
		SEM.ENQUEUE s a 9 → ["ACQUIRED"]
	`)
	waits := n.dial()
	id := waits.do("CLIENT", "ID")
	for how, want := range map[string]string{"TIMEOUT": "nil", "ERROR": "-UNBLOCKED client unblocked via CLIENT UNBLOCK"} {
		waits.send(encode("SEM.ACQUIRE", "s", "b", "1"))
		n.blocked(1)
		if list := c.do("CLIENT", "LIST"); !strings.Contains(list, "flags=b") {
			t.Error(list)
		}
		c.wants("CLIENT UNBLOCK "+id+" "+how, "1")
		if got := waits.reply(); got != want {
			t.Errorf("%s: %s, want %s", how, got, want)
		}
	}
	waits.send(encode("SEM.ACQUIRE", "s", "b", "1") + encode("PING"))
	n.blocked(1)
	c.wants("SEM.RELEASE s a", "1")
	if got := waits.reply() + waits.reply(); got != `"ACQUIRED"+PONG` {
		t.Error(got)
	}
	waits.send(encode("SEM.ACQUIRE", "s", "c", "1"))
	n.blocked(1)
	waits.nc.Close()
	n.blocked(0)
	c.wants("SEM.STATUS s b c", `["ACQUIRED" "WAIT"]`)
}

func TestSemaphoreWatch(t *testing.T) {
	n := startNode(t, Options{})
	c := n.dial()
	c.wants("SEM.CREATE crowd ACTIVE 1", "1")
	c.wants("SEM.CREATE other", "1")
	old, modern := n.dial(), n.dial()
	modern.do("HELLO", "3")
	old.wants("SEM.WATCH cr*d", `["sem.watch" "cr*d" nil 1]`)
	old.wants("SEM.INFO crowd", "-ERR Can't execute 'sem.info': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context")
	old.wants("PING", `["pong" ""]`)
	modern.wants("SEM.WATCH crowd TASK b ALL", `>["sem.watch" "crowd" "b" 1]`)
	modern.wants("SEM.WATCH crowd TASK z", `>["sem.watch" "crowd" "z" 2]`)
	modern.wants("SEM.INFO nowhere", "-NOSEM no such semaphore")
	c.wants("SEM.ENQUEUE crowd a 1", `["ACQUIRED"]`)
	c.wants("SEM.ENQUEUE crowd b 2.5", `["WAIT"]`)
	c.wants("SEM.ENQUEUE other b 1", `["ACQUIRED"]`)
	c.wants("SEM.RELEASE crowd a", "1")
	c.wants("SEM.RELEASE crowd b", "1")
	event := func(open, array, pattern, task, kind, status, priority string, seq int) string {
		return fmt.Sprintf(`%s["sem.event" "%s" "crowd" %s"task" "%s" "event" "%s" "status" "%s" "priority" %s "seq" %d "time" `, open, pattern, array, task, kind, status,
			priority, seq)
	}
	for _, want := range []string{
		event("", "[", "cr*d", "a", "Acquired", "ACQUIRED", `"1"`, 1), event("", "[", "cr*d", "a", "TryRelease", "TRY_RELEASE", `"1"`, 2),
		event("", "[", "cr*d", "b", "Acquired", "ACQUIRED", `"2.5"`, 3),
	} {
		if got := old.reply(); !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for _, want := range []string{
		event(">", "{", "crowd", "b", "Enqueued", "WAIT", ",2.5", 0), event(">", "{", "crowd", "b", "Acquired", "ACQUIRED", ",2.5", 3),
		event(">", "{", "crowd", "b", "Released", "", ",2.5", 0),
	} {
		if got := modern.reply(); !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
	old.wants("SEM.UNWATCH cr*d", `["sem.unwatch" "cr*d" nil 0]`)
	old.wants("SEM.UNWATCH", `["sem.unwatch" nil nil 0]`)
	old.wants("SEM.WATCH *", `["sem.watch" "*" nil 1]`)
	old.wants("SELECT 0", "-ERR Can't execute 'select': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context")
	old.wants("RESET", "+RESET")
	modern.send(encode("SEM.UNWATCH"))
	for _, want := range []string{`>["sem.unwatch" "crowd" "b" 1]`, `>["sem.unwatch" "crowd" "z" 0]`} {
		if got := modern.reply(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	c.wants("SEM.ENQUEUE crowd b 1", `["ACQUIRED"]`)
	old.wants("PING", "+PONG") // and nothing before it
	modern.wants("PING", "+PONG")
}

// TestSemaphoreWatchRights: a pattern tells of what the user may read at that time.
func TestSemaphoreWatchRights(t *testing.T) {
	n := startNode(t, Options{})
	n.cheapUser("me")
	n.permit("me", "z", "^mine")
	guest, me := n.dial(), n.dial()
	guest.wants("SEM.CREATE mine", "1")
	guest.wants("SEM.CREATE secret", "1")
	me.wants("AUTH me secret", "+OK")
	me.wants("SEM.INFO secret", "-"+string(errNoPermKey))
	me.wants("SEM.WATCH secret", "-"+string(errNoPermKey))
	me.wants("SEM.WATCH *", `["sem.watch" "*" nil 1]`)
	guest.wants("SEM.ENQUEUE secret a 1", `["ACQUIRED"]`)
	guest.wants("SEM.ENQUEUE mine b 1", `["ACQUIRED"]`)
	if got := me.reply(); !strings.Contains(got, `"mine"`) {
		t.Error(got)
	}
	me.wants("RESET", "+RESET")
	me.wants("AUTH me secret", "+OK")
	if got := me.do("SEM.LIST"); strings.Contains(got, "secret") || !strings.Contains(got, "mine") {
		t.Error(got)
	}
}

// TestSemaphoreEventsAreMessages: any Redis client hears of transitions as messages of the channel semaphore.events.
func TestSemaphoreEventsAreMessages(t *testing.T) {
	n := startNode(t, Options{})
	c, listener := n.dial(), n.dial()
	c.wants("SEM.CREATE s", "1")
	listener.wants("SUBSCRIBE semaphore.events", `["subscribe" "semaphore.events" 1]`)
	c.wants("SEM.ENQUEUE s t 5", `["ACQUIRED"]`)
	if got := listener.reply(); !strings.HasPrefix(got, `["message" "semaphore.events" "{\"key\":\"s\",\"task\":\"t\",\"event\":\"Acquired\",\"status\":\"ACQUIRED\",\"priority\":5`) {
		t.Error(got)
	}
}

// TestSemaphoreWatcherDoesNotRead: it is cut off, and nobody else notices.
func TestSemaphoreWatcherDoesNotRead(t *testing.T) {
	n := startNode(t, Options{})
	c, deaf := n.dial(), n.dial()
	c.wants("SEM.CREATE s ACTIVE 1000000", "1")
	deaf.wants("SEM.WATCH s ALL", `["sem.watch" "s" nil 1]`)
	const tasks = 2000
	words := []string{"SEM.ENQUEUE", "s"}
	names := []string{"SEM.RELEASE", "s"}
	for i := range tasks {
		task := fmt.Sprintf("%0200d", i)
		words, names = append(words, task, "1"), append(names, task)
	}
	for !strings.Contains(n.log.String(), "a subscriber does not read") {
		if got := c.do(words...); got[0] != '[' {
			t.Fatal(got)
		}
		c.wants(strings.Join(names, " "), fmt.Sprint(tasks))
	}
	deaf.nc.SetDeadline(time.Now().Add(patience)) //nolint:errcheck // reading tells
	if _, err := io.Copy(io.Discard, deaf.r); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Error(err)
	}
}

// TestSemaphoresOfVHosts: each virtual host has its own.
func TestSemaphoresOfVHosts(t *testing.T) {
	n := startNode(t, Options{})
	if _, err := n.b.PutVHost(broker.VHostSpec{Name: "shop"}); err != nil {
		t.Fatal(err)
	}
	if _, err := n.b.SetPermission(broker.Permission{User: "guest", VHost: "shop", Configure: ".*", Write: ".*", Read: ".*"}); err != nil {
		t.Fatal(err)
	}
	c, watcher := n.dial(), n.dial()
	watcher.do("HELLO", "3")
	watcher.wants("SEM.WATCH *", `>["sem.watch" "*" null 1]`)
	watcher.wants("SELECT shop", "+OK") // which ends the watch
	c.wants("SEM.CREATE s", "1")
	c.wants("SEM.ENQUEUE s t 1", `["ACQUIRED"]`)
	watcher.wants("SEM.INFO s", "-NOSEM no such semaphore")
	watcher.wants("SEM.WATCH *", `>["sem.watch" "*" null 1]`)
	c.wants("SEM.ENQUEUE s u 1", `["ACQUIRED"]`)
	watcher.wants("PING", "+PONG")
}
