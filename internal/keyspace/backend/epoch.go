package backend

import "sync/atomic"

// epoch is a span of views between two releases of memory. Memory that a view of this epoch was the
// last to see is freed when no view of this or an earlier epoch is read any more: an epoch is held
// by its readers, by the backend while it is the current one, and by the epoch before it.
type epoch struct {
	refs    atomic.Int64
	retired [][]byte // set before the backend lets go of the epoch
	next    *epoch
}

// hold adds a reader; false when the epoch is over already: the view it was found in is an old one.
func (e *epoch) hold() bool {
	for {
		n := e.refs.Load()
		if n == 0 {
			return false
		}
		if e.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (e *epoch) release() {
	for e != nil && e.refs.Add(-1) == 0 {
		for _, mem := range e.retired {
			freeRegion(mem)
		}
		e.retired = nil
		e = e.next
	}
}
