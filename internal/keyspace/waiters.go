package keyspace

import (
	"sync"
	"sync/atomic"
)

// waiter receives the result of a change. exclusive means that it waits within Exclusive, so
// nothing can be proposed before it gets the result.
type waiter struct {
	tell      func(*Result)
	exclusive bool
}

// waiters holds the calls that wait for their entries to be applied, by the ID in the entry.
type waiters struct {
	last atomic.Uint64
	mu   sync.Mutex
	by   map[uint64]waiter
}

// storeFailure marks an error that is not an answer to a change: the store has stopped.
type storeFailure struct{ error }

func (w *waiters) init() { w.by = make(map[uint64]waiter) }

// nextID returns an ID that no earlier change of this process had.
func (w *waiters) nextID() uint64 { return w.last.Add(1) }

func (w *waiters) add(id uint64, x waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.by[id] = x
}

// take removes and returns the waiter of an ID. It returns nil if there is none, as for all
// replayed entries.
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
