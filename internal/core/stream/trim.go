package stream

import (
	"math"

	"fiveways.dev/fiveways/internal/core/queue"
)

// Trim selects the entries to remove: the first ones until MaxLen are left, or those before MinID.
type Trim struct {
	ByID   bool
	MaxLen int
	MinID  ID
	Whole  bool // remove only whole blocks
	Limit  int  // remove at most this many entries, rounded down to whole blocks; 0: no limit
}

// Cut returns the handle of the first entry that a trim keeps, and the number of entries before it,
// which are to be removed.
func (s *Stream) Cut(t *Trim) (before queue.Handle, n int) {
	keep := math.MaxInt
	if !t.ByID {
		keep = t.MaxLen
	}
	for _, b := range s.index.blocks {
		size := len(b.spots)
		switch {
		case !t.ByID && s.index.n-n <= keep, t.Limit > 0 && n+size > t.Limit:
			return before, n
		case !t.ByID && s.index.n-n-size >= keep, t.ByID && b.top.Before(t.MinID):
			n += size
			before = b.lastHandle() + 1
			continue
		case t.Whole:
			return before, n
		}
		k := s.index.n - n - keep
		if t.ByID {
			for k = 0; k < size && b.id(k).Before(t.MinID); k++ {
			}
		}
		if k > 0 {
			before = b.at(k-1) + 1
		}
		return before, n + k
	}
	return before, n
}
