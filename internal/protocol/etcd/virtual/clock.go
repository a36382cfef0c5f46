package virtual

import (
	"sync/atomic"
	"time"
)

// Clock numbers what happens to virtual keys: revisions, in microseconds since 1970 so that they go
// on growing over a restart. They are not those of ordinary keys.
type Clock struct {
	last atomic.Int64
	now  func() time.Time
}

// Next is a revision above all before.
func (c *Clock) Next() int64 {
	now := c.now().UnixMicro()
	for {
		last := c.last.Load()
		if n := max(last+1, now); c.last.CompareAndSwap(last, n) {
			return n
		}
	}
}

// Current is the last revision that was given.
func (c *Clock) Current() int64 { return c.last.Load() }
