package semaphores

import (
	"container/heap"
	"math"
)

// noEnd is later than any end of a lease, in unix ms.
const noEnd = math.MaxInt64

// ends are the semaphores in which leases end, the first end first.
type ends []*sem

// first is the first end of all, unix ms.
func (e ends) first() int64 {
	if len(e) == 0 {
		return noEnd
	}
	return e[0].end
}

// set says when the first lease of a semaphore ends.
func (e *ends) set(s *sem, end int64) {
	if s.end == end {
		return
	}
	s.end = end
	switch {
	case end == noEnd:
		heap.Remove(e, s.heap)
	case s.heap < 0:
		heap.Push(e, s)
	default:
		heap.Fix(e, s.heap)
	}
}

// Len implements heap.Interface.
func (e ends) Len() int { return len(e) }

// Less implements heap.Interface.
func (e ends) Less(i, j int) bool { return e[i].end < e[j].end }

// Swap implements heap.Interface.
func (e ends) Swap(i, j int) {
	e[i], e[j] = e[j], e[i]
	e[i].heap, e[j].heap = i, j
}

// Push implements heap.Interface.
func (e *ends) Push(x any) {
	s := x.(*sem)
	s.heap = len(*e)
	*e = append(*e, s)
}

// Pop implements heap.Interface.
func (e *ends) Pop() any {
	all := *e
	s := all[len(all)-1]
	all[len(all)-1] = nil
	*e = all[:len(all)-1]
	s.heap = -1
	return s
}
