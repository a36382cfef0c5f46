package broker

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
)

// bufferRun is the workload of a broker with a delayed exchange whose queues are on several shards,
// and with de-duplication by a queue and by an exchange.
type bufferRun struct {
	skew      atomic.Int64        // ms that the broker's clock is ahead
	confirmed map[string][]string // queue -> bodies that must exist once all are due
	tried     map[string][]string // queue -> bodies that may exist
	pending   []string            // bodies that may be lost with their exchange
}

func newBufferRun() *bufferRun {
	return &bufferRun{confirmed: map[string][]string{}, tried: map[string][]string{}}
}

func (r *bufferRun) options(o *Options) {
	o.SegmentBytes, o.CheckpointBytes, o.Shards = 4<<10, 1<<10, 3
	o.Now = func() time.Time { return time.UnixMilli(1_700_000_000_000 + r.skew.Load()) }
}

// pass lets time pass and processes everything that is due, until no exchange buffer holds a due
// message.
func (r *bufferRun) pass(b *Broker, d time.Duration) {
	r.skew.Add(d.Milliseconds())
	for busy := true; busy; {
		busy = false
		for _, sh := range b.set.All {
			if sh.Each(func(at shard.Context) {
				if d := at.Deliveries(); at.Queue().Buffer != nil && (d.Ready() > 0 || d.Unacked() > 0 || d.NextEvent() <= at.Now()) {
					busy = true
					at.Changed()
				}
			}) != nil {
				return
			}
		}
		if b.set.Store.SyncNow() != nil {
			return
		}
	}
}

func (r *bufferRun) live(c *client) {
	for i := range 4 {
		if declare(c, QueueSpec{Name: fmt.Sprint("q", i), Durable: true}) != nil {
			return
		}
	}
	spec := QueueSpec{Name: "once", Durable: true, Policy: DefaultQueuePolicy()}
	spec.Policy.Deduplicate = true
	if _, err := c.DeclareQueue(spec); err != nil {
		return
	}
	args := message.Table{{Name: "x-delayed-type", Value: "fanout"}}
	if c.DeclareExchange(ExchangeSpec{Name: "later", Type: "x-delayed-message", Durable: true, Args: args}) != nil ||
		c.DeclareExchange(ExchangeSpec{Name: "sieve", Type: "fanout", Durable: true, Buffer: spec.Policy}) != nil {
		return
	}
	for q, x := range map[string]string{"q0": "later", "q1": "later", "q2": "sieve", "q3": "sieve"} {
		if c.Bind(BindSpec{Source: x, Destination: q}) != nil {
			return
		}
	}
	for i := range 24 {
		body := fmt.Sprintf("m%02d", i)
		ok := false
		switch i % 3 {
		case 0:
			ok = r.publish(c, "later", "", body, delayOf64(60_000), "q0", "q1")
		case 1:
			ok = r.publish(c, "", "once", body, key(body), "once")
		case 2:
			ok = r.publish(c, "sieve", "", body, key(body), "q2", "q3")
		}
		if !ok {
			return
		}
		if i%8 == 7 {
			r.pass(c.b, 61*time.Second)
		}
		if i%5 == 4 {
			c.b.checkpointDue(false)
		}
	}
	for i := range 3 {
		r.pending = append(r.pending, fmt.Sprint("p", i))
		if !r.publish(c, "later", "", r.pending[i], delayOf64(60_000), "q0", "q1") {
			return
		}
	}
	c.DeleteExchange("later", false) //nolint:errcheck // with it or without, nothing else may happen
	c.b.checkpointDue(false)
}

func (r *bufferRun) publish(c *client, exchange, key, body string, props message.Properties, queues ...string) bool {
	for _, q := range queues {
		r.tried[q] = append(r.tried[q], body)
	}
	if c.send(exchange, key, body, props) > 0 {
		return false
	}
	for _, q := range queues {
		r.confirmed[q] = append(r.confirmed[q], body)
	}
	return true
}

// check makes all messages due, and compares them with what was promised.
func (r *bufferRun) check(t *testing.T, b *Broker) {
	c := newClient(t, b)
	defer c.Close()
	_, there := c.vhost.Table().Exchange("later")
	deleted := !there
	r.pass(b, time.Hour)
	if _, ok := c.vhost.Queue("once"); ok { // publishers retry what was not confirmed, and more
		for _, body := range r.tried["once"] {
			c.send("", "once", body, key(body))
		}
	}
	if x, ok := c.vhost.Table().Exchange("sieve"); ok && x.BindingCount() == 2 {
		for _, body := range r.tried["q2"] {
			c.send("sieve", "", body, key(body))
		}
		r.pass(b, 0)
	}
	for _, q := range []string{"q0", "q1", "q2", "q3", "once"} {
		if _, ok := c.vhost.Queue(q); !ok {
			continue
		}
		got := c.drain(q)
		for _, body := range got {
			if !slices.Contains(r.tried[q], body) {
				t.Errorf("%s has %s, which was never published", q, body)
			}
		}
		for _, body := range r.confirmed[q] {
			if deleted && slices.Contains(r.pending, body) {
				continue
			}
			if !slices.Contains(got, body) {
				t.Errorf("%s lost %s", q, body)
			}
		}
		if q == "once" && !sameSet(got, r.tried[q]) {
			t.Errorf("each key is to be there once: got %q of %q", got, r.tried[q])
		}
		if missing := len(r.tried[q]) > 0 && !sameSet(slices.Compact(sorted(got)), r.tried[q]); q >= "q2" && q <= "q3" && missing {
			t.Errorf("%s has %q of %q", q, got, r.tried[q])
		}
	}
}

func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }

// TestBufferCrashAtEveryOperation crashes at each disk operation in turn, and opens what a power
// failure may leave.
func TestBufferCrashAtEveryOperation(t *testing.T) {
	crashEverywhere(t, 2, func() life {
		r := newBufferRun()
		return life{
			options: r.options,
			live:    func(b *Broker) { r.live(newClient(t, b)) },
			check:   func(b *Broker) { r.check(t, b) },
		}
	})
}

// sameSet compares two lists regardless of order.
func sameSet[T any](a, b []T) bool {
	text := func(list []T) (out []string) {
		for _, x := range list {
			out = append(out, fmt.Sprintf("%+v", x))
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(text(a), text(b))
}
