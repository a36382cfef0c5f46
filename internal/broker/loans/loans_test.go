package loans

import (
	"context"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/message"
)

// client is a test client that lends messages.
type client struct{ *enginetest.Client }

func newClient(t *testing.T, b *broker.Broker) client { return client{enginetest.NewClient(t, b)} }

func ordered(s *catalog.QueueSpec) { s.Policy.ConsumeAfter = true }

// named publishes a persistent message whose body is also its id.
func (c client) named(q, id string, change func(*shard.Publish)) {
	c.T.Helper()
	c.withHeaders(q, id, nil, change)
}

// withHeaders is named with headers.
func (c client) withHeaders(q, id string, headers message.Table, change func(*shard.Publish)) {
	c.T.Helper()
	props := message.Properties{
		Flags: message.HasDeliveryMode | message.HasMessageID | message.HasHeaders, DeliveryMode: message.Persistent, MessageID: id, Headers: headers,
	}
	c.Post("", q, id, props, change)
	enginetest.Sync(c.T, flushed(c))
}

func flushed(c client) *broker.Broker {
	c.Flush()
	return c.B
}

// acquires lends the message with an id, which must be available at once.
func (c client) acquires(q, id string) shard.Delivery {
	c.T.Helper()
	d, ok, err := AcquireByID(context.Background(), c.Session, q, id, nil)
	if !ok || err != nil {
		c.T.Fatalf("%s of %s: %v, %v", id, q, ok, err)
	}
	return d
}

// waiting returns the number of requests that wait at a queue.
func (c client) waiting(q string) (n int) {
	c.T.Helper()
	c.At(q, func(at shard.Context) {
		for _, all := range waitersOf(at) {
			n += len(all)
		}
	})
	return n
}

func (c client) ack(d shard.Delivery) {
	c.Ack(d.Queue, nil, d.Handle, 1)
	c.Flush()
}

func (c client) requeue(d shard.Delivery) {
	c.Requeue(d.Queue, nil, d.Handle, 1)
	c.Flush()
}

func (c client) release(ds ...shard.Delivery) {
	for _, d := range ds {
		c.Release(d.Queue, d.Handle, 1)
	}
	c.Flush()
}

func bodies(ds []shard.Delivery) (out []string) {
	for _, d := range ds {
		out = append(out, string(d.Env.Body()))
	}
	return out
}

func same(t testing.TB, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}
