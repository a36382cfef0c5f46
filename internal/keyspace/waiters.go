package keyspace

import (
	"sync"
	"sync/atomic"
)

// waiter is told the result of a change. exclusive: it waits within Exclusive, so that nothing can
// be proposed before it is told.
type waiter struct {
	tell      func(*Result)
	exclusive bool
}

// waiters are the calls that wait for their entries to be applied, by the ID in the entry.
type waiters struct {
	last atomic.Uint64
	mu   sync.Mutex
	by   map[uint64]waiter
}

// storeFailure marks an error that is no answer to a change: the store stopped.
type storeFailure struct{ error }

func (w *waiters) init() { w.by = make(map[uint64]waiter) }

// nextID returns an id that no change of this process had.
func (w *waiters) nextID() uint64 { return w.last.Add(1) }

func (w *waiters) add(id uint64, x waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.by[id] = x
}

// take removes the waiter of an ID; nil when there is none, as for all replayed entries.
func (w *waiters) take(id uint64) *waiter {
	w.mu.Lock()
	defer w.mu.Unlock()
	x, ok := w.by[id]
	if !ok {
		return nil
	}
	delete(w.by, id)
	return &x
}

func (w *waiters) failAll(err error) {
	w.mu.Lock()
	all := w.by
	w.by = make(map[uint64]waiter)
	w.mu.Unlock()
	for _, x := range all {
		x.tell(&Result{Err: storeFailure{err}})
	}
}
