package routing

import "slices"

// list is a persistent slice: with and without return a new list and leave the old one unchanged.
// Appending to the newest version is amortized O(1), because it writes to spare capacity that no
// other version can see; removing copies.
//
// Invariant: *used is the length of the longest version on this backing array. Only that version
// may append in place.
type list[T comparable] struct {
	items []T
	used  *int
}

func (l list[T]) with(v T) list[T] {
	if l.used != nil && *l.used == len(l.items) && cap(l.items) > len(l.items) {
		*l.used++
		return list[T]{append(l.items, v), l.used}
	}
	items := make([]T, len(l.items)+1, len(l.items)+1+len(l.items)/2)
	copy(items, l.items)
	items[len(l.items)] = v
	used := len(items)
	return list[T]{items, &used}
}

func (l list[T]) without(v T) list[T] {
	i := slices.Index(l.items, v)
	if i < 0 {
		return l
	}
	if len(l.items) == 1 {
		return list[T]{}
	}
	items := make([]T, 0, len(l.items)-1)
	items = append(append(items, l.items[:i]...), l.items[i+1:]...)
	used := len(items)
	return list[T]{items, &used}
}
