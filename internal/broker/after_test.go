package broker

import (
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// step publishes a persistent message with an id that waits for others.
func (c *client) step(id string, after any, change func(*shard.Publish)) {
	c.t.Helper()
	props := withHeaders("consume_after", after)
	props.Flags |= message.HasMessageID
	props.MessageID = id
	c.postProps("", "q", id, props, change)
}

func ordered(s *QueueSpec) { s.Policy.ConsumeAfter = true }

func TestConsumeAfter(t *testing.T) {
	clock := newClock(1_000_000)
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Now = clock.Now })
	defer mustClose(t, b)
	c := newClient(t, b)
	c.queue("q", ordered)
	c.step("set limit", "create user", nil) // an absent message does not block
	c.settled("q")
	sameStrings(t, c.browse("q"), "set limit ready 0")
	c.step("create user", nil, nil) // until it arrives
	c.step("rename", message.Array{"create user", "set limit", "create user", "rename"}, nil)
	c.step("remove", "{rename}", nil)
	c.settled("q")
	sameStrings(t, c.browse("q"), "set limit blocked 0", "create user ready 0", "rename blocked 0", "remove blocked 0")
	if info, err := c.DeclareQueue(QueueSpec{Name: "q", Passive: true}); err != nil || info.Ready != 1 {
		t.Fatalf("%+v, %v", info, err)
	}
	k := c.consume("q", nil)
	c.settled("q")
	ds := c.of(k)
	sameStrings(t, bodies(ds), "create user")
	c.Requeue(ds[0].Queue, k, ds[0].Handle, 1) // it still exists
	c.settled("q")
	ds = c.of(k)
	sameStrings(t, bodies(ds), "create user")
	c.Reject(ds[0].Queue, k, ds[0].Handle, 1)
	c.settled("q")
	ds = c.of(k)
	sameStrings(t, bodies(ds), "set limit")
	c.ack(ds[0])
	c.settled("q")
	ds = c.of(k)
	sameStrings(t, bodies(ds), "rename")
	c.ack(ds...)
	c.settled("q")
	ds = c.of(k)
	sameStrings(t, bodies(ds), "remove")
	c.ack(ds...)
	c.Cancel(k)

	// Expiry and purge end a wait, too. A message may expire while it waits, and a scheduled one
	// also waits for its due time.
	c.step("short", nil, func(p *shard.Publish) { p.TTL = 100 })
	c.step("late", "short", func(p *shard.Publish) { p.NotBefore = clock.Now().Add(time.Hour).UnixMilli() })
	c.step("never", "late", func(p *shard.Publish) { p.TTL = 1000 })
	c.step("after purge", "late", nil)
	c.settled("q")
	later := func(d time.Duration) {
		clock.ms.Add(d.Milliseconds())
		c.settled("q")
	}
	later(200 * time.Millisecond)
	sameStrings(t, c.browse("q"), "late scheduled 0", "never blocked 0", "after purge blocked 0")
	later(time.Second)
	sameStrings(t, c.browse("q"), "late scheduled 0", "after purge blocked 0")
	later(time.Hour)
	sameStrings(t, c.browse("q"), "late ready 0", "after purge blocked 0")
	if n, err := c.PurgeQueue("q"); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	sameStrings(t, c.drain("q"), "after purge")
}

// A blocked message counts towards the length limit once it is ready.
func TestConsumeAfterAndLengthLimit(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	c.queue("q", func(s *QueueSpec) { ordered(s); s.Policy.MaxLength = 1 })
	c.step("first", nil, nil)
	for _, id := range []string{"a", "b", "c"} {
		c.step(id, "first", nil)
	}
	sameStrings(t, c.drain("q"), "first", "c")
}
