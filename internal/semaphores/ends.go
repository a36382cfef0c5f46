package semaphores

import (
	"math"

	"fiveways.dev/fiveways/internal/core/heap"
)

// noEnd is later than the end of any lease, in unix ms.
const noEnd = math.MaxInt64

// ends is a heap of the semaphores whose leases end, ordered by the earliest end.
type ends struct{ heap.Heap[*sem, byEnd] }

type byEnd struct{}

var _ heap.Order[*sem] = byEnd{}

func (byEnd) Before(a, b *sem) bool   { return a.end < b.end }
func (byEnd) Moved(s *sem, index int) { s.heap = index }

// first returns the earliest end of all leases, in unix ms.
func (e ends) first() int64 {
	if len(e.Heap) == 0 {
		return noEnd
	}
	return e.Heap[0].end
}

// set sets when the first lease of a semaphore ends.
func (e *ends) set(s *sem, end int64) {
	if s.end == end {
		return
	}
	s.end = end
	if end == noEnd {
		e.Remove(s.heap)
	} else {
		e.Fix(s, s.heap)
	}
}
