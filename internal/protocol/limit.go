package protocol

import "sync/atomic"

// Limit bounds the number of client connections of a node for all its protocols together. The zero
// value and nil have no bound.
type Limit struct {
	max  int64
	used atomic.Int64
}

// NewLimit returns a limit of n connections, 0 = none.
func NewLimit(n int) *Limit { return &Limit{max: int64(n)} }

// Max returns the bound, 0 = none.
func (l *Limit) Max() int {
	if l == nil {
		return 0
	}
	return int(l.max)
}

// Used returns how many places are taken.
func (l *Limit) Used() int {
	if l == nil {
		return 0
	}
	return int(l.used.Load())
}

// Acquire takes one place and reports whether there was one.
func (l *Limit) Acquire() bool {
	if l == nil {
		return true
	}
	if n := l.used.Add(1); l.max > 0 && n > l.max {
		l.used.Add(-1)
		return false
	}
	return true
}

// Release gives back a place that Acquire took.
func (l *Limit) Release() {
	if l != nil {
		l.used.Add(-1)
	}
}
