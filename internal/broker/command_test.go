package broker

import (
	"errors"
	"testing"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// Commands for several queues on several shards take one trip to each shard. One that fails does
// not stop the others.
func TestDo(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Shards = 3 })
	c := newClient(t, b)
	for _, q := range []string{"a", "b", "c"} {
		c.queue(q, nil)
		c.put("", q, "m", nil)
	}
	counts := []*Count{{OnQueue: OnQueue{Queue: "a"}}, {OnQueue: OnQueue{Queue: "nowhere"}}, {OnQueue: OnQueue{Queue: "b"}}, {OnQueue: OnQueue{Queue: "c"}}}
	for range 2 {
		must(t, c.Do(counts[0], counts[1], counts[2], counts[3]))
		for i, k := range counts {
			if i == 1 {
				if !errors.Is(k.Err, ErrQueueNotFound) {
					t.Fatalf("nowhere: %v", k.Err)
				}
			} else if k.Err != nil || k.Ready != 1 {
				t.Fatalf("%s: %d ready, %v", k.Queue, k.Ready, k.Err)
			}
		}
	}
	c.Close()
	mustClose(t, b)
	if err := c.Do(counts[0]); !errors.Is(err, ErrClosed) {
		t.Fatalf("on a closed broker: %v", err)
	}
}
