package history

import (
	"slices"
	"sync"
)

// record is a list of events in the order in which they were added. Its methods are safe for
// concurrent use.
type record[T any] struct {
	mu     sync.Mutex
	events []T
	alarms []alarm
}

// alarm is a channel to close when a record has grown to a length.
type alarm struct {
	length int
	ring   chan struct{}
}

// Add appends events without other events between them.
func (r *record[T]) Add(events ...T) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, events...)
	r.alarms = slices.DeleteFunc(r.alarms, func(a alarm) bool {
		due := len(r.events) >= a.length
		if due {
			close(a.ring)
		}
		return due
	})
}

// Grown returns a channel that is closed once n more events have been added.
func (r *record[T]) Grown(n int) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := alarm{length: len(r.events) + n, ring: make(chan struct{})}
	r.alarms = append(r.alarms, a)
	return a.ring
}

// Events returns the events added so far.
func (r *record[T]) Events() []T {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}
