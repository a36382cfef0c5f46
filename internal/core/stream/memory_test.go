package stream

import (
	"runtime"
	"testing"

	"fiveways.dev/fiveways/internal/core/queue"
)

// heap is what lives on the heap of this test's process, in which nothing runs beside it. A second
// collection empties what a first keeps in pools.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestMemory: what an entry takes in memory beside its message, and what is pending of it. The
// hundredth part of the bounds is megabytes less than anything else on the heap could make of them.
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
