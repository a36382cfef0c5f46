package resp

import (
	"testing"

	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/protocoltest"
)

func TestStrangers(t *testing.T) {
	n := startNode(t, Options{Shared: protocol.Shared{Clients: protocoltest.Few(), Connections: protocol.NewLimit(1)}})
	protocoltest.Strangers(t, n.Addr, func() func() error {
		c := n.Dial()
		c.Wants("AUTH guest guest", "+OK")
		return func() error {
			c.Wants("PING", "+PONG")
			return nil
		}
	})
}
