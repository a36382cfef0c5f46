package amqp

import (
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// TestRateLimit checks that a publish that has to wait for days holds up only its own connection,
// and is accepted when the limit is removed or the connection ends.
func TestRateLimit(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, n *node, waits *protocol.Client){
		"the limit is taken away": func(t *testing.T, n *node, _ *protocol.Client) {
			if err := n.b.ClearUserLimit("guest", catalog.LimitPublishBytes); err != nil {
				t.Error(err)
			}
		},
		"an operator ends the connection": func(_ *testing.T, _ *node, waits *protocol.Client) { waits.End("enough") },
		"the broker is to close":          func(_ *testing.T, n *node, _ *protocol.Client) { n.b.Hurry() },
	} {
		t.Run(name, func(t *testing.T) {
			clients := protocol.NewClients()
			n := startNode(t, Options{Shared: protocol.Shared{Clients: clients}}, broker.Options{DiskFreeLimit: -1})
			if err := n.b.SetUserLimit("guest", catalog.LimitPublishBytes, 1); err != nil {
				t.Fatal(err)
			}
			c := n.login()
			c.open(1)
			c.declare(1, amqpwire.QueueDeclare{Queue: "q"})
			c.call(1, &amqpwire.ConfirmSelect{}, &amqpwire.ConfirmSelectOk{})
			c.publish(1, "", "q", false, message.Properties{}, string(make([]byte, 1<<20)))
			other := n.login()
			other.open(1)
			waits := holding(t, clients)
			if got := other.declare(1, amqpwire.QueueDeclare{Queue: "q", Passive: true}).MessageCount; got != 0 {
				t.Fatalf("%d messages came in before their time", got)
			}
			end(t, n, waits)
			for taken := false; !taken; { // the close may be faster than the ack
				switch _, m := c.method(); m.(type) {
				case *amqpwire.BasicAck, *amqpwire.ConnectionClose:
					taken = true
				}
			}
			if got := other.declare(1, amqpwire.QueueDeclare{Queue: "q", Passive: true}).MessageCount; got != 1 {
				t.Errorf("%d messages are in the queue, want 1", got)
			}
		})
	}
}

// holding waits until a connection waits for its turn.
func holding(t *testing.T, clients *protocol.Clients) *protocol.Client {
	for {
		for _, c := range clients.All() {
			if c.State() == protocol.StateFlow {
				return c
			}
		}
		select { // there is no signal for a state
		case <-t.Context().Done():
			t.Fatal("no connection waits")
		case <-time.After(time.Millisecond):
		}
	}
}
