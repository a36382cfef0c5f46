package resp

import (
	"io"
	"runtime"
	"strings"
	"testing"
)

func TestMulti(t *testing.T) {
	n := startNode(t, Options{})
	c := n.dial()
	c.wants("EXEC", "-ERR EXEC without MULTI")
	c.wants("DISCARD", "-ERR DISCARD without MULTI")
	c.wants("MULTI", "+OK")
	c.wants("MULTI", "-ERR MULTI calls can not be nested")
	c.wants("TEST.PUSH a 1", "+QUEUED")
	c.wants("TEST.PUSH b 2", "+QUEUED")
	c.wants("TEST.POP a", "+QUEUED")
	c.wants("TEST.POP a 0", "+QUEUED") // nothing waits in a transaction
	c.wants("TEST.POP a x", "+QUEUED")
	c.wants("ECHO x", "+QUEUED")
	c.wants("CLIENT GETNAME", "+QUEUED")
	n.dial().wants("TEST.POP b", "nil")
	c.wants("EXEC", `[1 1 "1" nil -ERR timeout is not a float or out of range "x" nil]`)
	c.wants("TEST.POP b", `"2"`)

	c.wants("MULTI", "+OK")
	c.wants("TEST.PUSH a 1", "+QUEUED")
	c.wants("DISCARD", "+OK")
	c.wants("TEST.POP a", "nil")

	c.wants("MULTI", "+OK")
	c.wants("TEST.PUSH a 1", "+QUEUED")
	c.wants("nonsense", "-ERR unknown command 'nonsense', with args beginning with: ")
	c.wants("EXEC", "-EXECABORT Transaction discarded because of previous errors.")
	c.wants("TEST.POP a", "nil")

	c.wants("MULTI", "+OK")
	c.wants("EXEC x", "-EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command")
	c.wants("EXEC", "-ERR EXEC without MULTI")

	c.wants("MULTI", "+OK")
	c.wants("RESET", "+RESET")
	c.wants("TEST.POP a", "nil")
	c.wants("MULTI", "+OK")
	c.wants("EXEC", "[]")

	c.wants("MULTI", "+OK")
	c.wants("SUBSCRIBE a", "+QUEUED")
	c.wants("PING", "+QUEUED")
	c.wants("EXEC", `[["subscribe" "a" 1] ["pong" ""]]`)
}

// TestSmallCommandsTakeMemory: a transaction of many small commands is bounded by what they take here.
func TestSmallCommandsTakeMemory(t *testing.T) {
	c := startNode(t, Options{MaxMessageSize: 1}).dial()
	c.wants("MULTI", "+OK")
	const many = 3000
	c.send(strings.Repeat(encode("PING"), many))
	last := ""
	for range many {
		last = c.reply()
	}
	if last != "-ERR the transaction is too large" {
		t.Error(last)
	}
	c.wants("EXEC", "-EXECABORT Transaction discarded because of previous errors.")
}

// TestLargeAnswerOfExec: the answer of EXEC does not have to be in memory at once.
func TestLargeAnswerOfExec(t *testing.T) {
	c := startNode(t, Options{}).dial()
	body := strings.Repeat("x", 1<<20)
	c.wants("LPUSH q "+body, "1")
	c.wants("MULTI", "+OK")
	const many = 64
	for range many {
		c.wants("LRANGE q 0 -1", "+QUEUED")
	}
	before := heap()
	c.send(encode("EXEC"))
	if _, err := io.CopyN(io.Discard, c.r, 1000); err != nil {
		t.Fatal(err)
	}
	if more := heap() - before; more > many<<20/2 {
		t.Errorf("%d MiB wait for the client", more>>20)
	}
}

// heap is how much memory is in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestPublishInExec: what a client gets of its own transaction does not come within the answer.
func TestPublishInExec(t *testing.T) {
	c := startNode(t, Options{}).dial()
	c.do("HELLO", "3")
	c.wants("SUBSCRIBE a", `>["subscribe" "a" 1]`)
	c.wants("MULTI", "+OK")
	c.wants("ECHO before", "+QUEUED")
	c.wants("PUBLISH a hello", "+QUEUED")
	c.wants("ECHO after", "+QUEUED")
	c.wants("EXEC", `>["message" "a" "hello"]`)
	if got := c.reply(); got != `["before" 1 "after"]` {
		t.Error(got)
	}
}

// TestTransactionIsBounded: what a client says between MULTI and EXEC takes memory.
func TestTransactionIsBounded(t *testing.T) {
	c := startNode(t, Options{MaxMessageSize: 1}).dial()
	c.wants("MULTI", "+OK")
	body := string(make([]byte, 60<<10))
	got := ""
	for range 3 {
		got = c.do("ECHO", body)
	}
	if got != "-ERR the transaction is too large" {
		t.Error(got)
	}
	c.wants("EXEC", "-EXECABORT Transaction discarded because of previous errors.")
}

func TestWatch(t *testing.T) {
	n := startNode(t, Options{})
	c, other := n.dial(), n.dial()
	for _, tc := range []struct {
		then string // what somebody else does
		done bool
	}{
		{"ECHO x", true}, {"TEST.PUSH a x", false}, {"TEST.POP a", false}, {"TEST.PUSH b x", true}, {"TEST.POP b", true}, {"TEST.PUSH a x", false},
	} {
		c.wants("WATCH a none", "+OK")
		c.wants("MULTI", "+OK")
		c.wants("WATCH b", "-ERR WATCH inside MULTI is not allowed")
		c.wants("TEST.PUSH c x", "+QUEUED")
		other.do(strings.Fields(tc.then)...)
		want := "nilarray"
		if tc.done {
			want = "[1]"
		}
		c.wants("EXEC", want)
		if got := c.do("TEST.POP", "c"); (got == `"x"`) != tc.done {
			t.Errorf("%s: %s", tc.then, got)
		}
	}
	for _, forget := range []string{"UNWATCH", "DISCARD"} {
		c.wants("WATCH a", "+OK")
		if forget == "DISCARD" {
			c.wants("MULTI", "+OK")
		}
		c.wants(forget, "+OK")
		other.do("TEST.PUSH", "a", "x")
		c.wants("MULTI", "+OK")
		c.wants("ECHO x", "+QUEUED")
		c.wants("EXEC", `["x"]`)
	}
}
