package queue

import (
	"maps"
	"slices"
)

// Before reports whether a message at h comes before one at o in the order of delivery.
func (h Handle) Before(o Handle) bool {
	if h.Priority() != o.Priority() {
		return h.Priority() > o.Priority()
	}
	return h < o
}

// EachIn calls fn, in order, for those of n contiguous handles that are keys of a map. fn may
// change the map.
func EachIn[V any](m map[Handle]V, h Handle, n int, fn func(Handle)) {
	switch {
	case len(m) == 0:
	case n <= len(m):
		for i := range Handle(n) {
			if _, ok := m[h+i]; ok {
				fn(h + i)
			}
		}
	default:
		for _, have := range slices.Sorted(maps.Keys(m)) {
			if have >= h && have-h < Handle(n) {
				fn(have)
			}
		}
	}
}
