// Package deadlock detects sessions that wait for each other in a cycle.
//
// A Detector knows which sessions wait, for which resource, and what each of them holds. It owns no
// resource: sessions report to it before and after they wait.
//
// # Invariants
//
// What a session holds does not change while it waits, and a resource has one holder. So a cycle is
// complete, and is found, when its last session begins to wait. A session that holds nothing, or
// does not report what it holds, cannot be part of a cycle.
package deadlock

import (
	"slices"
	"sync"
)

// Detector tracks the sessions that hold something while they wait for something else. R identifies
// what is held and waited for. Any goroutine may call its methods; no other lock is taken under its
// lock.
type Detector[R comparable] struct {
	mu  sync.Mutex
	all []*Wait[R]
}

// Wait is a session that waits.
type Wait[R comparable] struct {
	For   R
	Holds []R
}

// Enter adds a session that is about to wait. It returns false, and does not add the session, if
// that would close a cycle.
func (d *Detector[R]) Enter(w *Wait[R]) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	on := w
	for range len(d.all) + 1 {
		if slices.Contains(w.Holds, on.For) {
			return false
		}
		i := slices.IndexFunc(d.all, func(other *Wait[R]) bool { return slices.Contains(other.Holds, on.For) })
		if i < 0 {
			break
		}
		on = d.all[i]
	}
	d.all = append(d.all, w)
	return true
}

// Leave removes a session that no longer waits.
func (d *Detector[R]) Leave(w *Wait[R]) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.all = slices.DeleteFunc(d.all, func(have *Wait[R]) bool { return have == w })
}
