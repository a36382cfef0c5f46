// Package byid finds what a transaction has done to messages by their ids (iids).
package byid

import (
	"iter"
	"slices"
)

// Keyed is an element of a Stack.
type Keyed interface {
	comparable
	// ID returns the id of the element, which does not change.
	ID() string
}

// Stack holds elements in the order in which they were added. The first call of With makes an
// index, so that a transaction that never calls it pays nothing for one. The zero value is empty.
// It is for one goroutine at a time.
type Stack[T Keyed] struct {
	all []T
	// Invariant: last and prev cover the first len(prev) elements. last maps an id to the place of
	// its last element, prev a place to that of the element before with the same id. Places count
	// from 1; 0 means none.
	last map[string]int32
	prev []int32
}

// All returns the elements. The slice is valid until the next change.
func (s *Stack[T]) All() []T { return s.all }

// Len returns the number of elements.
func (s *Stack[T]) Len() int { return len(s.all) }

// Push adds an element.
func (s *Stack[T]) Push(v T) { s.all = append(s.all, v) }

// Pop removes the last element.
func (s *Stack[T]) Pop() {
	n := len(s.all) - 1
	if len(s.prev) > n {
		if id := s.all[n].ID(); s.prev[n] == 0 {
			delete(s.last, id)
		} else {
			s.last[id] = s.prev[n]
		}
		s.prev = s.prev[:n]
	}
	clear(s.all[n:])
	s.all = s.all[:n]
}

// With yields the elements with an id, the last one first.
func (s *Stack[T]) With(id string) iter.Seq[T] {
	return func(yield func(T) bool) {
		if len(s.all) == 0 {
			return
		}
		s.index()
		for at := s.last[id]; at > 0 && yield(s.all[at-1]); at = s.prev[at-1] {
		}
	}
}

// index adds to the index the elements that it does not cover.
func (s *Stack[T]) index() {
	if s.last == nil {
		s.last = make(map[string]int32, len(s.all))
	}
	s.prev = slices.Grow(s.prev, len(s.all)-len(s.prev))
	for n := len(s.prev); n < len(s.all); n++ {
		id := s.all[n].ID()
		s.prev = append(s.prev, s.last[id])
		s.last[id] = int32(n + 1)
	}
}

// Clear removes all elements. It does not keep memory for more than some of them.
func (s *Stack[T]) Clear() {
	clear(s.all)
	if s.all = s.all[:0]; cap(s.all) > 64 {
		s.all = nil
	}
	s.last, s.prev = nil, nil
}
