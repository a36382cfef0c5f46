package resp

import (
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
