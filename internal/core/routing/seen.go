package routing

import "slices"

// scanLimit is the length up to which a linear search is faster than hashing.
const scanLimit = 16

// seen is a reusable ordered set. After a reset it keeps only its capacity. It allocates only if it
// grows beyond its largest size so far.
type seen[T comparable] struct {
	list  []T
	index map[T]struct{} // mirrors list if that is longer than scanLimit; otherwise empty
}

func (s *seen[T]) reset() {
	clear(s.list)
	s.list = s.list[:0]
	if len(s.index) > 0 {
		clear(s.index)
	}
}

// add appends v and returns true, or returns false if v is already in the set.
func (s *seen[T]) add(v T) bool {
	if len(s.list) < scanLimit {
		if slices.Contains(s.list, v) {
			return false
		}
		s.list = append(s.list, v)
		return true
	}
	if len(s.index) == 0 {
		if s.index == nil {
			s.index = make(map[T]struct{}, 4*scanLimit)
		}
		for _, old := range s.list {
			s.index[old] = struct{}{}
		}
	}
	if _, dup := s.index[v]; dup {
		return false
	}
	s.index[v] = struct{}{}
	s.list = append(s.list, v)
	return true
}
