package broker

import (
	"fmt"
	"testing"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/dispatch"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// pickyState runs fn on the shard of a queue.
func (c *client) pickyState(q string, fn func(sh *shard.Shard, q *shard.Queue)) {
	c.t.Helper()
	queue, _ := c.vhost.Queue(q)
	must(c.t, queue.Home().Call(func() { fn(queue.Home(), queue) }))
}

// TestLookAheadIsBounded has an idle consumer beside one that holds the key of a long sequence of
// messages. At most dispatch.MaxAside are set aside, in steps between which the shard does other
// work. Messages behind them follow when fewer are set aside.
func TestLookAheadIsBounded(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.MemoryLimit = 1 << 30 })
	defer mustClose(t, b)
	c := newClient(t, b)
	c.queue("q", func(s *QueueSpec) { grouped(s); s.Durable = false })
	const more = 3000
	for i := range dispatch.MaxAside + more {
		c.postKey("q", "a", fmt.Sprint(i))
		if i%1000 == 0 {
			c.Flush()
		}
	}
	c.postKey("q", "b", "b")
	c.Flush()
	one := c.consume("q", prefetch(1))
	c.settled("q")
	held := c.of(one)
	parked, steps := 0, 0
	done := make(chan struct{})
	var probe func(*shard.Shard, *shard.Queue)
	probe = func(sh *shard.Shard, q *shard.Queue) { // it runs in each round
		if n := shard.ContextOf(q).Deliveries().Parked(); n > parked+dispatch.Step {
			t.Errorf("%d messages looked at in one go", n-parked)
		}
		parked = shard.ContextOf(q).Deliveries().Parked()
		if steps++; parked > 0 && !shard.DebugOf(sh).LooksAgain(q) {
			close(done)
			return
		}
		sh.Post(func() { probe(sh, q) })
	}
	c.pickyState("q", probe)
	two := c.consume("q", prefetch(1))
	<-done
	if parked != dispatch.MaxAside || steps < dispatch.MaxAside/dispatch.Step/2 {
		t.Fatalf("%d parked in %d steps", parked, steps)
	}
	c.Requeue(held[0].Queue, one, held[0].Handle, 1) // there is room for returned messages
	c.settled("q")
	held = c.take(1)
	sameStrings(t, bodies(held), "0")
	for i := range more {
		c.ack(held...)
		c.settled("q")
		held = c.take(1) // the key is free after each ack: another consumer may get it
		sameStrings(t, bodies(held), fmt.Sprint(i+1))
		if i < more-1 {
			sameStrings(t, bodies(append(c.of(one), c.of(two)...)))
		}
	}
	sameStrings(t, bodies(c.take(1)), "b")
	if n, err := c.PurgeQueue("q"); err != nil || n != dispatch.MaxAside-1 {
		t.Fatal(n, err)
	}
}

// TestGoneMessagesAreForgotten lets many messages of a held group expire: the state kept for them
// stays bounded.
func TestGoneMessagesAreForgotten(t *testing.T) {
	clock := newClock(1_000_000)
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Now = clock.Now })
	defer mustClose(t, b)
	c := newClient(t, b)
	c.queue("q", grouped)
	c.postKey("q", "a", "held")
	c.Flush()
	_, _, _, err := c.Get("q", false)
	must(t, err)
	c.consume("q", prefetch(1))
	for range 50 {
		for range dispatch.Step / 4 {
			c.postProps("", "q", "m", withHeaders("key", "a"), func(p *shard.Publish) { p.TTL = 10 })
		}
		c.settled("q")
		clock.ms.Add(1000)
		c.settled("q")
	}
	c.pickyState("q", func(_ *shard.Shard, q *shard.Queue) {
		if n := shard.ContextOf(q).Deliveries().Ready(); n != 0 {
			t.Errorf("%d messages have not expired", n)
		}
	})
}
