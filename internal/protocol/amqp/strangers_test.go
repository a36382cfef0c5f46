package amqp

import (
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/protocoltest"
)

func TestStrangers(t *testing.T) {
	n := startNode(t, Options{Shared: protocol.Shared{Clients: protocoltest.Few(), Connections: protocol.NewLimit(1)}}, broker.Options{})
	protocoltest.Strangers(t, n.addr, func() func() error {
		c := n.mustConnect("guest", "/")
		return func() error {
			_, err := c.Channel()
			return err
		}
	})
}
