package routing

import "slices"

// scanLimit is the length up to which walking a list beats hashing.
const scanLimit = 16

// seen is a reusable ordered set. After a reset it retains only capacity; it allocates only to grow
// beyond all it held before.
type seen[T comparable] struct {
	list  []T
	index map[T]struct{} // mirrors list once that is longer than scanLimit; else empty
}

func (s *seen[T]) reset() {
	clear(s.list)
	s.list = s.list[:0]
	if len(s.index) > 0 {
		clear(s.index)
	}
}

// add appends v and reports true, or reports false if v is there already.
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
