package broker

import (
	"strconv"
	"testing"
	"time"

	"fiveways/internal/storage/vfs"
)

// Letters with a key each are a row each. What ends one must not look at all of them: this took 15 seconds when it did, and half of one now.
func TestBacklogOfManyKeysEndsSoon(t *testing.T) {
	const count = 40_000
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
	c.consume("dead", func(s *ConsumerSpec) { s.NoAck = true })
	start := time.Now()
	c.bind("x", "dead", "")
	c.take(count)
	if took := time.Since(start); took > 8*time.Second {
		t.Errorf("it took %v", took)
	}
}
