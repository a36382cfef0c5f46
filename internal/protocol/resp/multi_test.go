package resp

import (
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
