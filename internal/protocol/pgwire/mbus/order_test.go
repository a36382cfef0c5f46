package mbus

import (
	"testing"

	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// TestOrderOfAdded: the poster's enqueue_time determines the place in the queue, and delayed_until
// breaks ties.
func TestOrderOfAdded(t *testing.T) {
	b := openBroker(t, vfs.NewMem())
	t.Cleanup(func() { enginetest.Close(t, b) })
	c := newCaller(t, b, "guest")
	c.call("create_queue", "q", 4)
	for _, m := range [][]any{
		{"n=>d", `enqueue_time=>"2002-01-01 00:00:00.000001"`}, {"n=>e"}, {"n=>c", `enqueue_time=>"2002-01-01"`, nil, "2001-01-02"},
		{"n=>b", `enqueue_time=>"2002-01-01"`, nil, "2001-01-01"}, {"n=>a", `enqueue_time=>"2001-01-01"`},
	} {
		c.call("post", append([]any{"q"}, m...)...)
	}
	for _, want := range []string{"a", "b", "c", "d", "e"} {
		if r := c.call("consume_q_by_default"); len(r) != 1 || dataOf(r[0]) != `"n"=>"`+want+`"` {
			t.Fatalf("consumed %v, want %s", r, want)
		}
	}
}
