package stream

import (
	"runtime"
	"testing"

	"fiveways.dev/fiveways/internal/core/queue"
)

// heap returns the size of this process's heap while nothing else runs. A second collection frees
// what the first one leaves in pools.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestMemory checks the memory that an entry takes in addition to its message, and that its pending
// state takes. One percent of the bounds is megabytes less than anything else on the heap could
// change.
func TestMemory(t *testing.T) {
	const n = 200_000
	before := heap()
	s := &Stream{}
	for i := range uint64(n) {
		s.Add(ID{Ms: 1_700_000_000_000 + i/3, Seq: i % 3}, queue.Handle(i+1))
	}
	entries := heap()
	g := s.SetGroup("g", ID{}, 0)
	c := g.Enter("c", 0)
	s.Ascend(ID{}, func(id ID, _ queue.Handle) bool {
		g.Give(c, id, 1, 1)
		return true
	})
	pending := heap()
	each := func(from, to int64) float64 { return float64(to-from) / n }
	t.Logf("%.1f bytes an entry, %.1f more when it is pending", each(before, entries), each(entries, pending))
	if e := each(before, entries); e < 8 || e > 24 {
		t.Errorf("an entry takes %.1f bytes", e)
	}
	if p := each(entries, pending); p < 8 || p > 96 {
		t.Errorf("a pending entry takes %.1f bytes", p)
	}
	runtime.KeepAlive(s)
}
