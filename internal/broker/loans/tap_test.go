package loans

import (
	"fmt"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/routing"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// The tap sees every loan, however it is made.
func TestTap(t *testing.T) {
	var heard []string
	b := enginetest.Open(t, vfs.NewMem(), func(o *broker.Options) {
		o.Tap = func(m *shard.Tapped) message.Envelope {
			heard = append(heard, fmt.Sprintf("%s got %s of %s", m.User, m.Env.Body(), m.Queue))
			return message.AppendEnvelopeHeader(nil, routing.Tap, "told", (&message.Properties{}).Append(nil))
		}
	})
	c := newClient(t, b)
	c.Queue("heard", func(s *catalog.QueueSpec) { s.Durable = false })
	enginetest.Must(t, c.Bind(catalog.BindSpec{Source: routing.Tap, Destination: "heard", Key: "#"}))
	c.Queue("q", nil)
	c.named("q", "m", nil)
	enginetest.Must(t, b.SetTapped("/", true))
	for _, lend := range []func() shard.Delivery{
		func() shard.Delivery { return c.fetch("q", 1, nil)[0] },
		func() shard.Delivery { return c.fetch("q", 1, func(message.Envelope) bool { return true })[0] },
		func() shard.Delivery { return c.acquires("q", "m") },
	} {
		heard = nil
		c.release(lend())
		same(t, heard, "guest got m of q")
	}
	enginetest.Close(t, b)
}
