package backend

import "sync/atomic"

// epoch is a range of views between two releases of memory. Memory that was last visible to views
// of this epoch is freed once no view of this or an earlier epoch is being read. An epoch is held
// by its readers, by the backend while it is the current one, and by the previous epoch.
type epoch struct {
	refs    atomic.Int64
	retired [][]byte // set before the backend releases the epoch
	next    *epoch
}

// hold adds a reader. It returns false if the epoch has already ended: then the view is outdated.
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
