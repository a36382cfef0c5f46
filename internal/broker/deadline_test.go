package broker

import (
	"fmt"
	"testing"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// A deadline is as durable as its message, also in an exchange that holds messages.
func TestDeadlines(t *testing.T) {
	fs := vfs.NewMem()
	clock := newClock(1_000_000)
	clocked := func(o *Options) { o.Now = clock.Now }
	b := openBroker(t, fs, clocked)
	c := newClient(t, b)
	c.queue("q", nil)
	must(t, c.DeclareExchange(ExchangeSpec{
		Name: "hold", Type: "x-delayed-message", Durable: true, Args: message.Table{{Name: "x-delayed-type", Value: "fanout"}},
	}))
	must(t, c.Bind(BindSpec{Source: "hold", Destination: "q"}))
	until := func(ms int64) func(*shard.Publish) { return func(p *shard.Publish) { p.Deadline = ms } }
	c.put("", "q", "short", until(1_001_000))
	c.put("", "q", "long", until(1_005_000))
	held := message.Properties{
		Flags: message.HasDeliveryMode | message.HasHeaders, DeliveryMode: 2, Headers: message.Table{{Name: "x-delay", Value: int32(500)}},
	}
	for _, ms := range []int64{1_000_400, 1_002_500, 1_009_000} {
		seq := c.postProps("hold", "", fmt.Sprint("held until ", ms), held, until(ms))
		c.Flush()
		c.until(func() bool { return c.acks[seq] == 1 })
	}
	c.Close()
	mustClose(t, b)
	clock.ms.Store(1_002_000)
	b = openBroker(t, fs, clocked)
	c = newClient(t, b)
	for _, sh := range b.set.All { // held messages arrive
		must(t, sh.Call(func() {}))
		must(t, sh.Call(func() {}))
	}
	got := c.gets("q", 9)
	sameStrings(t, bodies(got), "long", "held until 1002500", "held until 1009000")
	for _, d := range got {
		c.Release(d.Queue, d.Handle, 1)
	}
	c.Flush()
	clock.ms.Store(1_003_000)
	sameStrings(t, c.drain("q"), "long", "held until 1009000")
	c.Close()
	mustClose(t, b)
}
