package semaphores_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/resp"
	"fiveways.dev/fiveways/internal/protocol/resp/resptest"
)

// start starts a broker with the protocol in front.
func start(t *testing.T) *resptest.Node {
	return resptest.Start(t, broker.Options{DiskFreeLimit: -1}, func(n *resptest.Node) resptest.Server {
		return resp.New(n.Broker, resp.Options{Shared: protocol.Shared{Semaphores: n.Semaphores, Log: n.Logger(), LoginDelay: -1}})
	})
}

func TestSemaphores(t *testing.T) {
	c := start(t).Dial()
	c.Play(`
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
	got := c.Do("SEM.STATUS", "low", "DETAIL", "LEASE", "nobody")
	if !strings.HasPrefix(got, `[["task" "LEASE" "status" "ACQUIRED" "priority" "4" "position" 1 "enqueued" 1`) || !strings.HasSuffix(got, "] nil]") {
		t.Error(got)
	}
	c.Wants("HELLO 3", c.Do("HELLO", "3"))
	if got := c.Do("SEM.TASKS", "low", "COUNT", "1"); !strings.HasPrefix(got, `[2 [{"task" "LEASE" "status" "ACQUIRED" "priority" ,4 "position" 1`) {
		t.Error(got)
	}
	if got := c.Do("SEM.TASKS", "low", "FROM", "2", "STATUS", "acquired"); !strings.HasPrefix(got, `[0 [{"task" "DETAIL" "status" "ACQUIRED" "priority" ,5 "position" 2`) {
		t.Error(got)
	}
	c.Wants("SEM.TASKS low STATUS WAIT STATUS TRY_RELEASE", "[0 []]")
}

// TestFullDisk: while the disk is short, semaphores and tasks that exist can be changed, and new
// ones are rejected.
func TestFullDisk(t *testing.T) {
	n := start(t)
	c := n.Dial()
	c.Play(`
		SEM.CREATE crowd ACTIVE 1 → 1
		SEM.ENQUEUE crowd a 1 b 2 → ["WAIT" "ACQUIRED"]
	`)
	n.Broker.WatchDisks(func() []string { return []string{"n1"} })
	for end := time.After(resptest.Patience); n.Broker.Alarm() == nil; {
		select {
		case <-time.After(10 * time.Millisecond):
		case <-end:
			t.Fatal("no alarm")
		}
	}
	c.Play(`
		SEM.ENQUEUE crowd a 3 → ["WAIT"]
		SEM.ACQUIRE crowd b 4 → "ACQUIRED"
		SEM.RELEASE crowd b → 1
		SEM.CREATE crowd → 0
		SEM.ENQUEUE crowd c 1 → -MISCONF Errors writing to the AOF file: No space left on device
		SEM.CREATE other → -MISCONF Errors writing to the AOF file: No space left on device
	`)
}

func TestSemaphoreErrors(t *testing.T) {
	c := start(t).Dial()
	c.Play(`
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
		if got := c.Do(args...); !strings.HasPrefix(got, "-ERR ") {
			t.Errorf("%q: %s", args, got)
		}
	}
	c.Wants("SEM.INFO s", `["key" "s" "active" 1000 "try_release" 900 "order" "desc" "lease" 0 "waiting" 0 "acquired" 0 "try_release_asked" 0]`)
}

func TestSemaphoreList(t *testing.T) {
	c := start(t).Dial()
	for i := range 30 {
		c.Wants(fmt.Sprintf("SEM.CREATE k%02d", i), "1")
	}
	keys := func(reply string) (found []string) {
		for word := range strings.FieldsSeq(reply) {
			if strings.HasPrefix(word, `"k`) && word != `"key"` {
				found = append(found, strings.Trim(word, `"`))
			}
		}
		return found
	}
	got := c.Do("SEM.LIST", "COUNT", "20", "AFTER", "k04")
	if !strings.HasPrefix(got, `["k24" [`) || len(keys(got)) != 20 {
		t.Error(got)
	}
	got = c.Do("SEM.LIST", "MATCH", "k?7", "COUNT", "100")
	if !strings.HasPrefix(got, `[nil [`) || strings.Join(keys(got), " ") != "k07 k17 k27" {
		t.Error(got)
	}
	c.Wants("SEM.LIST MATCH x*", "[nil []]")
}

// TestSemaphorePipeline checks that requests on queues and on semaphores run in the order in which
// they arrive.
func TestSemaphorePipeline(t *testing.T) {
	c := start(t).Dial()
	c.Send(resptest.Encode("SEM.CREATE", "s", "ACTIVE", "1") + resptest.Encode("LPUSH", "q", "x") + resptest.Encode("PING") + resptest.Encode("SEM.ENQUEUE", "s", "a", "1") +
		resptest.Encode("SEM.STATUS", "s", "a") + resptest.Encode("SEM.RELEASE", "s", "a") + resptest.Encode("SEM.STATUS", "s", "a") + resptest.Encode("LLEN", "q") +
		resptest.Encode("SEM.NONE") + resptest.Encode("SEM.ACQUIRE", "s", "b", "1") + resptest.Encode("SEM.ACQUIRE", "s", "c", "1", "TIMEOUT", "1") + resptest.Encode("SEM.STATUS", "s", "b", "c"))
	for _, want := range []string{
		"1", "1", "+PONG", `["ACQUIRED"]`, `["ACQUIRED"]`, "1", "[nil]", "1", "-ERR unknown command 'SEM.NONE', with args beginning with: ", `"ACQUIRED"`, "nil",
		`["ACQUIRED" "WAIT"]`,
	} {
		if got := c.Reply(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestSemaphoreTransaction checks that EXEC makes its changes to queues and semaphores atomically.
func TestSemaphoreTransaction(t *testing.T) {
	n := start(t)
	c, other := n.Dial(), n.Dial()
	c.Play(`
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
	other.Wants("LPUSH q z", "2")
	c.Play(`
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

// untilInLine waits until a client is blocked on a task of the semaphore s and the task is queued:
// the client counts as blocked a moment earlier.
func untilInLine(n *resptest.Node, c *resptest.Client, task string) {
	n.T.Helper()
	n.UntilBlocked(c, 1)
	for range 100_000 {
		if c.Do("SEM.STATUS", "s", task) == `["WAIT"]` {
			return
		}
	}
	n.T.Fatalf("the task %s is never in line", task)
}

func TestSemaphoreAcquire(t *testing.T) {
	n := start(t)
	c, waits := n.Dial(), n.Dial()
	c.Play(`
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
		c.Do("SEM.RELEASE", "s", "a", "b")
		c.Wants("SEM.ENQUEUE s a 9", `["ACQUIRED"]`)
		waits.Send(resptest.Encode("SEM.ACQUIRE", "s", "b", "1"))
		untilInLine(n, c, "b")
		c.Wants(tc.release, "1")
		if got := waits.Reply(); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
	c.Play(`
		SEM.CREATE s ACTIVE 1 TRYRELEASE 1 → 1
		SEM.ENQUEUE s a 1 b 2 → ["WAIT" "ACQUIRED"]
		SEM.ENQUEUE s a 3 → ["WAIT"]
		SEM.ACQUIRE s b 2 → "TRY_RELEASE"
	`)
}

// TestSemaphoreWaitEnds checks that a waiting client may be unblocked, send further commands, or
// disconnect, and that its task stays queued.
func TestSemaphoreWaitEnds(t *testing.T) {
	n := start(t)
	c := n.Dial()
	c.Play(`
		SEM.CREATE s ACTIVE 1 → 1
		SEM.ENQUEUE s a 9 → ["ACQUIRED"]
	`)
	waits := n.Dial()
	id := waits.Do("CLIENT", "ID")
	for how, want := range map[string]string{"TIMEOUT": "nil", "ERROR": "-UNBLOCKED client unblocked via CLIENT UNBLOCK"} {
		waits.Send(resptest.Encode("SEM.ACQUIRE", "s", "b", "1"))
		untilInLine(n, c, "b")
		if list := c.Do("CLIENT", "LIST"); !strings.Contains(list, "flags=b") {
			t.Error(list)
		}
		c.Wants("CLIENT UNBLOCK "+id+" "+how, "1")
		if got := waits.Reply(); got != want {
			t.Errorf("%s: %s, want %s", how, got, want)
		}
	}
	waits.Send(resptest.Encode("SEM.ACQUIRE", "s", "b", "1") + resptest.Encode("PING"))
	untilInLine(n, c, "b")
	c.Wants("SEM.RELEASE s a", "1")
	if got := waits.Reply() + waits.Reply(); got != `"ACQUIRED"+PONG` {
		t.Error(got)
	}
	waits.Send(resptest.Encode("SEM.ACQUIRE", "s", "c", "1"))
	untilInLine(n, c, "c")
	waits.Conn.Close()
	n.UntilBlocked(c, 0)
	c.Wants("SEM.STATUS s b c", `["ACQUIRED" "WAIT"]`)
}
