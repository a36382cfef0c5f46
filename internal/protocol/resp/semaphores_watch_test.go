package resp

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/resptest"
)

func TestSemaphoreWatch(t *testing.T) {
	n := startNode(t, Options{})
	c := n.Dial()
	c.Wants("SEM.CREATE crowd ACTIVE 1", "1")
	c.Wants("SEM.CREATE other", "1")
	old, modern := n.Dial(), n.Dial()
	modern.Do("HELLO", "3")
	old.Wants("SEM.WATCH cr*d", `["sem.watch" "cr*d" nil 1]`)
	old.Wants("SEM.INFO crowd", "-ERR Can't execute 'sem.info': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context")
	old.Wants("PING", `["pong" ""]`)
	modern.Wants("SEM.WATCH crowd TASK b ALL", `>["sem.watch" "crowd" "b" 1]`)
	modern.Wants("SEM.WATCH crowd TASK z", `>["sem.watch" "crowd" "z" 2]`)
	modern.Wants("SEM.INFO nowhere", "-NOSEM no such semaphore")
	c.Wants("SEM.ENQUEUE crowd a 1", `["ACQUIRED"]`)
	c.Wants("SEM.ENQUEUE crowd b 2.5", `["WAIT"]`)
	c.Wants("SEM.ENQUEUE other b 1", `["ACQUIRED"]`)
	c.Wants("SEM.RELEASE crowd a", "1")
	c.Wants("SEM.RELEASE crowd b", "1")
	event := func(open, array, pattern, task, kind, status, priority string, seq int) string {
		return fmt.Sprintf(`%s["sem.event" "%s" "crowd" %s"task" "%s" "event" "%s" "status" "%s" "priority" %s "seq" %d "time" `, open, pattern, array, task, kind, status,
			priority, seq)
	}
	for _, want := range []string{
		event("", "[", "cr*d", "a", "Acquired", "ACQUIRED", `"1"`, 1), event("", "[", "cr*d", "a", "TryRelease", "TRY_RELEASE", `"1"`, 2),
		event("", "[", "cr*d", "b", "Acquired", "ACQUIRED", `"2.5"`, 3),
	} {
		if got := old.Reply(); !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for _, want := range []string{
		event(">", "{", "crowd", "b", "Enqueued", "WAIT", ",2.5", 0), event(">", "{", "crowd", "b", "Acquired", "ACQUIRED", ",2.5", 3),
		event(">", "{", "crowd", "b", "Released", "", ",2.5", 0),
	} {
		if got := modern.Reply(); !strings.HasPrefix(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
	old.Wants("SEM.UNWATCH cr*d", `["sem.unwatch" "cr*d" nil 0]`)
	old.Wants("SEM.UNWATCH", `["sem.unwatch" nil nil 0]`)
	old.Wants("SEM.WATCH *", `["sem.watch" "*" nil 1]`)
	old.Wants("SELECT 0", "-ERR Can't execute 'select': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context")
	old.Wants("RESET", "+RESET")
	modern.Send(resptest.Encode("SEM.UNWATCH"))
	for _, want := range []string{`>["sem.unwatch" "crowd" "b" 1]`, `>["sem.unwatch" "crowd" "z" 0]`} {
		if got := modern.Reply(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	c.Wants("SEM.ENQUEUE crowd b 1", `["ACQUIRED"]`)
	old.Wants("PING", "+PONG") // with no reply before it
	modern.Wants("PING", "+PONG")
}

// TestSemaphoreWatchRights checks that a watch reports only the keys that the user may read at that
// time.
func TestSemaphoreWatchRights(t *testing.T) {
	n := startNode(t, Options{})
	n.cheapUser("me")
	n.permit("me", "z", "^mine")
	guest, listener, me := n.Dial(), n.Dial(), n.Dial()
	guest.Wants("SEM.CREATE mine", "1")
	guest.Wants("SEM.CREATE secret", "1")
	me.Wants("AUTH me secret", "+OK")
	me.Wants("SEM.INFO secret", "-"+string(command.ErrNoPermKey))
	me.Wants("SEM.WATCH secret", "-"+string(command.ErrNoPermKey))
	me.Wants("SEM.WATCH *", `["sem.watch" "*" nil 1]`)
	guest.Wants("SEM.ENQUEUE secret a 1", `["ACQUIRED"]`)
	guest.Wants("SEM.ENQUEUE mine b 1", `["ACQUIRED"]`)
	if got := me.Reply(); !strings.Contains(got, `"mine"`) {
		t.Error(got)
	}
	me.Wants("SEM.UNWATCH", `["sem.unwatch" "*" nil 0]`)
	me.Wants("SEM.WATCH mine", `["sem.watch" "mine" nil 1]`)
	listener.Wants("SEM.WATCH mine", `["sem.watch" "mine" nil 1]`)
	n.permit("me", "z", "z")
	guest.Wants("SEM.ENQUEUE mine c 1", `["ACQUIRED"]`)
	listener.Reply() // it is told at the same time
	n.permit("me", "z", "^mine")
	guest.Wants("SEM.ENQUEUE mine d 1", `["ACQUIRED"]`)
	if got := me.Reply(); !strings.Contains(got, `"task" "d"`) {
		t.Error(got)
	}
	me.Wants("RESET", "+RESET")
	me.Wants("AUTH me secret", "+OK")
	if got := me.Do("SEM.LIST"); strings.Contains(got, "secret") || !strings.Contains(got, "mine") {
		t.Error(got)
	}
}

// TestSemaphoreEventsAreMessages checks that any Redis client receives transitions as messages of
// the channel semaphore.events.
func TestSemaphoreEventsAreMessages(t *testing.T) {
	n := startNode(t, Options{})
	c, listener := n.Dial(), n.Dial()
	c.Wants("SEM.CREATE s", "1")
	listener.Wants("SUBSCRIBE semaphore.events", `["subscribe" "semaphore.events" 1]`)
	c.Wants("SEM.ENQUEUE s t 5", `["ACQUIRED"]`)
	if got := listener.Reply(); !strings.HasPrefix(got, `["message" "semaphore.events" "{\"key\":\"s\",\"task\":\"t\",\"event\":\"Acquired\",\"status\":\"ACQUIRED\",\"priority\":5`) {
		t.Error(got)
	}
}

// TestSemaphoreWatcherDoesNotRead checks that a watcher that does not read is disconnected, and
// that others are not affected.
func TestSemaphoreWatcherDoesNotRead(t *testing.T) {
	n := startNode(t, Options{})
	c, deaf := n.Dial(), n.Dial()
	c.Wants("SEM.CREATE s ACTIVE 1000000", "1")
	deaf.Wants("SEM.WATCH s ALL", `["sem.watch" "s" nil 1]`)
	const tasks = 2000
	words := []string{"SEM.ENQUEUE", "s"}
	names := []string{"SEM.RELEASE", "s"}
	for i := range tasks {
		task := fmt.Sprintf("%0200d", i)
		words, names = append(words, task, "1"), append(names, task)
	}
	for !strings.Contains(n.Log.String(), "a subscriber does not read") {
		c.Conn.SetDeadline(time.Now().Add(resptest.Patience)) //nolint:errcheck // a read reports the error
		if got := c.Do(words...); got[0] != '[' {
			t.Fatal(got)
		}
		c.Wants(strings.Join(names, " "), fmt.Sprint(tasks))
	}
	deaf.Conn.SetDeadline(time.Now().Add(resptest.Patience)) //nolint:errcheck // a read reports the error
	if _, err := io.Copy(io.Discard, deaf.R); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Error(err)
	}
}

// TestSemaphoresOfVHosts checks that each virtual host has its own semaphores.
func TestSemaphoresOfVHosts(t *testing.T) {
	n := startNode(t, Options{})
	if _, err := n.Broker.PutVHost(catalog.VHostSpec{Name: "shop"}); err != nil {
		t.Fatal(err)
	}
	if _, err := n.Broker.SetPermission(catalog.Permission{User: "guest", VHost: "shop", Configure: ".*", Write: ".*", Read: ".*"}); err != nil {
		t.Fatal(err)
	}
	c, watcher := n.Dial(), n.Dial()
	watcher.Do("HELLO", "3")
	watcher.Wants("SEM.WATCH *", `>["sem.watch" "*" null 1]`)
	watcher.Wants("SELECT shop", "+OK") // this ends the watch
	c.Wants("SEM.CREATE s", "1")
	c.Wants("SEM.ENQUEUE s t 1", `["ACQUIRED"]`)
	watcher.Wants("SEM.INFO s", "-NOSEM no such semaphore")
	watcher.Wants("SEM.WATCH *", `>["sem.watch" "*" null 1]`)
	c.Wants("SEM.ENQUEUE s u 1", `["ACQUIRED"]`)
	watcher.Wants("PING", "+PONG")
}
