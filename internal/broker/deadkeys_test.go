package broker

import (
	"strconv"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// Dead letters with distinct keys have a row each. Completing one must not look at all of them:
// eight times as many took 55 times as long when it did, and now take 16 times as long, because of
// cache misses.
func TestBacklogOfManyKeysEndsSoon(t *testing.T) {
	const few, times, tries = 5_000, 8, 3
	var ratios []float64
	for range tries { // the machine may be busy
		ratio := float64(endBacklogOfKeys(t, few*times)) / float64(endBacklogOfKeys(t, few))
		if ratio < 4*times {
			return
		}
		ratios = append(ratios, ratio)
	}
	t.Errorf("%d times as many took %.0f times as long", times, ratios)
}

// endBacklogOfKeys creates as many undeliverable dead letters with distinct keys, makes them
// deliverable, and returns the time until all have arrived.
func endBacklogOfKeys(t *testing.T, count int) time.Duration {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	defer c.Close()
	c.queue("src", insisting("x", ""))
	c.queue("dead", nil) // on the other shard
	for _, x := range []string{"in", "x"} {
		must(t, c.DeclareExchange(ExchangeSpec{Name: x, Type: "fanout", Durable: true}))
	}
	c.bind("in", "src", "")
	for i := range count {
		c.post("in", strconv.Itoa(i), "", nil)
	}
	c.Flush()
	for c.rejectAll("src") > 0 {
	}
	wantCounts(t, c, "src", 0, count)
	c.consume("dead", func(s *shard.ConsumerSpec) { s.NoAck = true })
	start := time.Now()
	c.bind("x", "dead", "")
	c.take(count)
	return time.Since(start)
}
