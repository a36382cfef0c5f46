package resp

import (
	"testing"

	"fiveways/internal/protocol"
	"fiveways/internal/protocol/protocoltest"
)

func TestStrangers(t *testing.T) {
	n := startNode(t, Options{Clients: protocoltest.Few(), Connections: protocol.NewLimit(1)})
	protocoltest.Strangers(t, n.addr, func() func() error {
		c := n.dial()
		c.wants("AUTH guest guest", "+OK")
		return func() error {
			c.wants("PING", "+PONG")
			return nil
		}
	})
}
