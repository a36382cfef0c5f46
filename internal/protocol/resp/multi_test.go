package resp

import (
	"io"
	"runtime"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/protocol/resp/resptest"
)

func TestMulti(t *testing.T) {
	n := startNode(t, Options{})
	c := n.Dial()
	c.Wants("EXEC", "-ERR EXEC without MULTI")
	c.Wants("DISCARD", "-ERR DISCARD without MULTI")
	c.Wants("MULTI", "+OK")
	c.Wants("MULTI", "-ERR MULTI calls can not be nested")
	c.Wants("TEST.PUSH a 1", "+QUEUED")
	c.Wants("TEST.PUSH b 2", "+QUEUED")
	c.Wants("TEST.POP a", "+QUEUED")
	c.Wants("TEST.POP a 0", "+QUEUED") // nothing waits in a transaction
	c.Wants("TEST.POP a x", "+QUEUED")
	c.Wants("ECHO x", "+QUEUED")
	c.Wants("CLIENT GETNAME", "+QUEUED")
	n.Dial().Wants("TEST.POP b", "nil")
	c.Wants("EXEC", `[1 1 "1" nil -ERR timeout is not a float or out of range "x" nil]`)
	c.Wants("TEST.POP b", `"2"`)

	c.Wants("MULTI", "+OK")
	c.Wants("TEST.PUSH a 1", "+QUEUED")
	c.Wants("DISCARD", "+OK")
	c.Wants("TEST.POP a", "nil")

	c.Wants("MULTI", "+OK")
	c.Wants("TEST.PUSH a 1", "+QUEUED")
	c.Wants("nonsense", "-ERR unknown command 'nonsense', with args beginning with: ")
	c.Wants("EXEC", "-EXECABORT Transaction discarded because of previous errors.")
	c.Wants("TEST.POP a", "nil")

	c.Wants("MULTI", "+OK")
	c.Wants("EXEC x", "-EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command")
	c.Wants("EXEC", "-ERR EXEC without MULTI")

	c.Wants("MULTI", "+OK")
	c.Wants("RESET", "+RESET")
	c.Wants("TEST.POP a", "nil")
	c.Wants("MULTI", "+OK")
	c.Wants("EXEC", "[]")

	c.Wants("MULTI", "+OK")
	c.Wants("SUBSCRIBE a", "+QUEUED")
	c.Wants("PING", "+QUEUED")
	c.Wants("EXEC", `[["subscribe" "a" 1] ["pong" ""]]`)
}

// TestSmallCommandsTakeMemory checks that the bound on a transaction includes the overhead of many
// small commands.
func TestSmallCommandsTakeMemory(t *testing.T) {
	c := startNode(t, Options{MaxMessageSize: 1}).Dial()
	c.Wants("MULTI", "+OK")
	const many = 3000
	c.Send(strings.Repeat(resptest.Encode("PING"), many))
	last := ""
	for range many {
		last = c.Reply()
	}
	if last != "-ERR the transaction is too large" {
		t.Error(last)
	}
	c.Wants("EXEC", "-EXECABORT Transaction discarded because of previous errors.")
}

// TestLargeAnswerOfExec checks that the answer of EXEC need not fit into memory at once.
func TestLargeAnswerOfExec(t *testing.T) {
	c := startNode(t, Options{}).Dial()
	body := strings.Repeat("x", 1<<20)
	c.Wants("LPUSH q "+body, "1")
	c.Wants("MULTI", "+OK")
	const many = 64
	for range many {
		c.Wants("LRANGE q 0 -1", "+QUEUED")
	}
	before := heap()
	c.Send(resptest.Encode("EXEC"))
	if _, err := io.CopyN(io.Discard, c.R, 1000); err != nil {
		t.Fatal(err)
	}
	if more := heap() - before; more > many<<20/2 {
		t.Errorf("%d MiB wait for the client", more>>20)
	}
}

// heap returns how much memory is in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestPublishInExec checks that messages that a client's own transaction publishes to it do not
// appear within the answer.
func TestPublishInExec(t *testing.T) {
	c := startNode(t, Options{}).Dial()
	c.Do("HELLO", "3")
	c.Wants("SUBSCRIBE a", `>["subscribe" "a" 1]`)
	c.Wants("MULTI", "+OK")
	c.Wants("ECHO before", "+QUEUED")
	c.Wants("PUBLISH a hello", "+QUEUED")
	c.Wants("ECHO after", "+QUEUED")
	c.Wants("EXEC", `>["message" "a" "hello"]`)
	if got := c.Reply(); got != `["before" 1 "after"]` {
		t.Error(got)
	}
}

// TestTransactionIsBounded checks that the memory of a transaction is bounded.
func TestTransactionIsBounded(t *testing.T) {
	c := startNode(t, Options{MaxMessageSize: 1}).Dial()
	c.Wants("MULTI", "+OK")
	body := string(make([]byte, 60<<10))
	got := ""
	for range 3 {
		got = c.Do("ECHO", body)
	}
	if got != "-ERR the transaction is too large" {
		t.Error(got)
	}
	c.Wants("EXEC", "-EXECABORT Transaction discarded because of previous errors.")
}

// TestSubscribeInExec checks that messages to a client that subscribes in a transaction do not
// appear within the answer either.
func TestSubscribeInExec(t *testing.T) {
	c := startNode(t, Options{}).Dial()
	c.Wants("MULTI", "+OK")
	c.Wants("SUBSCRIBE a", "+QUEUED")
	c.Wants("PUBLISH a hello", "+QUEUED")
	c.Wants("SUBSCRIBE b", "+QUEUED")
	c.Wants("EXEC", `[["subscribe" "a" 1] 1 ["subscribe" "b" 2]]`)
	if got := c.Reply(); got != `["message" "a" "hello"]` {
		t.Error(got)
	}
	c.Wants("PING", `["pong" ""]`)
}

func TestWatch(t *testing.T) {
	n := startNode(t, Options{})
	c, other := n.Dial(), n.Dial()
	for _, tc := range []struct {
		then string // a command of another client
		done bool
	}{
		{"ECHO x", true}, {"TEST.PUSH a x", false}, {"TEST.POP a", false}, {"TEST.PUSH b x", true}, {"TEST.POP b", true}, {"TEST.PUSH a x", false},
	} {
		c.Wants("WATCH a none", "+OK")
		c.Wants("MULTI", "+OK")
		c.Wants("WATCH b", "-ERR WATCH inside MULTI is not allowed")
		c.Wants("TEST.PUSH c x", "+QUEUED")
		other.Do(strings.Fields(tc.then)...)
		want := "nilarray"
		if tc.done {
			want = "[1]"
		}
		c.Wants("EXEC", want)
		if got := c.Do("TEST.POP", "c"); (got == `"x"`) != tc.done {
			t.Errorf("%s: %s", tc.then, got)
		}
	}
	for _, forget := range []string{"UNWATCH", "DISCARD"} {
		c.Wants("WATCH a", "+OK")
		if forget == "DISCARD" {
			c.Wants("MULTI", "+OK")
		}
		c.Wants(forget, "+OK")
		other.Do("TEST.PUSH", "a", "x")
		c.Wants("MULTI", "+OK")
		c.Wants("ECHO x", "+QUEUED")
		c.Wants("EXEC", `["x"]`)
	}
}
