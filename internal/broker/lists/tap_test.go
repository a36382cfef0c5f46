package lists

import (
	"fmt"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/routing"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// TestTap: the tap hears of what is pushed, popped and moved, and a move is no publish of a client.
func TestTap(t *testing.T) {
	b := enginetest.Open(t, vfs.NewMem(), func(o *broker.Options) {
		o.Shards = 1 // so that all comes in order
		o.Tap = func(m *shard.Tapped) message.Envelope {
			what := fmt.Sprintf("%s to %q", m.Env.Body(), m.Queues)
			if m.HandedOut {
				what = fmt.Sprintf("%s from %s", m.Env.Body(), m.Queue)
			}
			props := message.Properties{}
			return append(message.AppendEnvelopeHeader(nil, routing.Tap, "told", props.Append(nil)), what...)
		}
	})
	defer enginetest.Close(t, b)
	c := enginetest.NewClient(t, b)
	defer c.Close()
	c.Queue("q", nil)
	c.Queue("r", nil)
	c.Queue("heard", func(s *catalog.QueueSpec) { s.Durable = false })
	enginetest.Must(t, c.Bind(catalog.BindSpec{Source: routing.Tap, Destination: "heard", Key: "#"}))
	enginetest.Must(t, b.SetTapped("/", true))
	c.MustDo(&Push{OnQueue: enginetest.On("q"), Bodies: values("a", "b", "c")}, &Pop{OnQueue: enginetest.On("q"), Max: 1},
		&Pop{OnQueue: enginetest.On("q"), Max: 1, Back: true}, &Move{OnQueue: enginetest.On("q"), To: "r"})
	enginetest.Must(t, b.SetTapped("/", false))
	enginetest.Sync(t, b)
	want := []string{`a to ["q"]`, `b to ["q"]`, `c to ["q"]`, "a from q", "c from q", "b from q", `b to ["r"]`}
	if got := c.Drain("heard"); !slices.Equal(got, want) {
		t.Errorf("heard\n%q, want\n%q", got, want)
	}
	var s inspect.Sample
	enginetest.Must(t, inspect.NewSampler(b).Sample(&s))
	for _, q := range s.Queues {
		if want := map[string]uint64{"q": 3}[q.Name]; q.Counts.Direct != want {
			t.Errorf("%s: %d published by its name, want %d", q.Name, q.Counts.Direct, want)
		}
	}
}
