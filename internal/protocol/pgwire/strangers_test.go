package pgwire

import (
	"testing"

	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/protocoltest"
)

func TestStrangers(t *testing.T) {
	n := startRealNode(t, Options{Shared: protocol.Shared{Clients: protocoltest.Few(), Connections: protocol.NewLimit(1)}})
	protocoltest.Strangers(t, n.addr, func() func() error {
		c, err := n.connect("guest", "guest")
		if err != nil {
			t.Fatal(err)
		}
		return func() error { return c.Exec(t.Context(), "select 1").Close() }
	})
}

// TestLengthsBeforeTheLogin: before the login, the server does not wait for a message that is
// larger than the limit.
func TestLengthsBeforeTheLogin(t *testing.T) {
	n := startRealNode(t, Options{})
	if _, err := n.b.PutUser(userSpec); err != nil {
		t.Fatal(err)
	}
	c := n.dial()
	c.write([]byte{0, 0, 0x27, 0x15}) // a start-up packet of 10,005 bytes
	c.expect("gone")
	c = n.dial().start(protocol3, "user", "u", "database", "fiveways")
	c.expect("R sasl SCRAM-SHA-256")
	c.write([]byte{'p', 0, 1, 0, 5}) // a proof of 64 KiB plus one byte
	c.expect("E FATAL 08P01 invalid message length / gone")
}
