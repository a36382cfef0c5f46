package broker

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// A thousand consumers with a limit share the work evenly, even if most of them have reached it.
func TestManyConsumersShare(t *testing.T) {
	const consumers, limit = 1000, 4
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Shards = 1 })
	defer mustClose(t, b)
	c := newClient(t, b)
	defer c.Close()
	c.queue("q", nil)
	for i := range consumers {
		c.consume("q", func(s *shard.ConsumerSpec) { s.Tag, s.Prefetch = fmt.Sprint(i), limit })
	}
	for i := range consumers * (limit + 1) {
		c.post("", "q", fmt.Sprint(i), nil)
	}
	c.Flush()
	got := map[string]int{}
	ds := c.take(consumers * limit)
	for i, d := range ds {
		got[d.Consumer.Tag]++
		if want := fmt.Sprint(i % consumers); d.Consumer.Tag != want {
			t.Fatalf("message %d went to consumer %s, want %s", i, d.Consumer.Tag, want)
		}
	}
	for tag, n := range got {
		if n != limit {
			t.Fatalf("consumer %s has %d", tag, n)
		}
	}
	for _, d := range ds[:100] { // only their consumers have room now
		c.Ack(d.Queue, d.Consumer, d.Handle, 1)
	}
	c.Flush()
	for _, d := range c.take(100) {
		if got[d.Consumer.Tag]++; got[d.Consumer.Tag] > limit+1 {
			t.Fatalf("consumer %s got two for one", d.Consumer.Tag)
		}
	}
}

// A session keeps no consumer whose queue was deleted as soon as the consumer had started, and none
// that was refused.
func TestConsumerOfDeletedQueue(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	defer c.Close()
	c.queue("q", nil)
	_, err := c.Consume(shard.ConsumerSpec{Queue: "q", Tag: "a", Started: func() {
		if n := len(c.client.TakeAll()); n != 1 { // as the deletion of the queue does it
			t.Errorf("the session has %d consumers when its consumer starts, want 1", n)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Consume(shard.ConsumerSpec{Queue: "q", Tag: "b", Exclusive: true}); !errors.Is(err, failure.ErrExclusiveConsumer) {
		t.Fatal(err)
	}
	if n := len(c.client.TakeAll()); n != 0 {
		t.Errorf("the session keeps %d consumers, want none", n)
	}
}

// TestConsumersAgainstRules adds and removes consumers of several sessions, priorities and limits
// at random. No consumer ever holds more than its limit, no message is ready while a consumer has
// room, and none goes to a consumer while one of higher priority has room.
func TestConsumersAgainstRules(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { runConsumers(t, rand.New(rand.NewPCG(seed, 5)), 1500) })
	}
}

// out returns the number of unacked deliveries under a limit.
func out(held map[*shard.Consumer][]shard.Delivery, l *shard.Limit) (n int) {
	for k, ds := range held {
		if k.State().Limit == l {
			n += len(ds)
		}
	}
	return n
}

func runConsumers(t *testing.T, rng *rand.Rand, steps int) {
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Shards = 1 })
	defer mustClose(t, b)
	var clients []*client
	limits := map[*client]*shard.Limit{}
	for range 3 {
		c := newClient(t, b)
		defer c.Close()
		clients = append(clients, c)
		limits[c] = shard.NewLimit(5)
	}
	clients[0].queue("q", nil)
	v, _ := b.vhost("/")
	q, _ := v.Queue("q")
	owner := map[*shard.Consumer]*client{}
	held := map[*shard.Consumer][]shard.Delivery{}
	var all []*shard.Consumer
	collect := func() {
		for _, c := range clients {
			c.mu.Lock()
			for _, d := range c.got {
				held[d.Consumer] = append(held[d.Consumer], d)
			}
			c.got = nil
			c.mu.Unlock()
		}
	}
	rest := func() { // until kicks have been handled
		for range 3 {
			must(t, q.Home().Call(func() {}))
		}
		collect()
	}
	for step := range steps {
		c := clients[rng.IntN(len(clients))]
		switch op := rng.IntN(10); {
		case op == 0 && len(all) < 40:
			k := c.consume("q", func(s *shard.ConsumerSpec) {
				s.Tag, s.Prefetch, s.Priority = fmt.Sprint(step), 1+rng.IntN(4), rng.IntN(3)
				if rng.IntN(3) == 0 {
					s.Limit = limits[c]
				}
			})
			owner[k], all = c, append(all, k)
		case op == 1 && len(all) > 0:
			i := rng.IntN(len(all))
			k := all[i]
			all = append(all[:i], all[i+1:]...)
			owner[k].Cancel(k)
			rest()
			for _, d := range held[k] {
				owner[k].Return(d.Queue, k, d.Handle, 1)
			}
			owner[k].Flush()
			delete(held, k)
		case op < 6:
			for range 1 + rng.IntN(8) {
				c.post("", "q", fmt.Sprint(step), nil)
			}
			c.Flush()
		case len(all) > 0:
			for range 1 + rng.IntN(6) {
				k := all[rng.IntN(len(all))]
				if n := len(held[k]); n > 0 {
					i := rng.IntN(n)
					d := held[k][i]
					held[k] = append(held[k][:i], held[k][i+1:]...)
					owner[k].Ack(d.Queue, k, d.Handle, 1)
					owner[k].Flush()
				}
			}
		}
		rest()
		ready := 0
		must(t, q.Home().Call(func() { ready = shard.ContextOf(q).Deliveries().Ready() }))
		for _, k := range all {
			prefetch, limit := k.State().Prefetch, k.State().Limit
			room := len(held[k]) < prefetch && (limit == nil || out(held, limit) < limit.Max())
			if len(held[k]) > prefetch || ready > 0 && room {
				t.Fatalf("step %d: consumer %s holds %d of %d, %d are ready", step, k.Tag, len(held[k]), prefetch, ready)
			}
		}
	}
}
