package virtual

import (
	"sync/atomic"
	"time"
)

// Clock assigns revisions to events of virtual keys. They are microseconds since 1970, so that they
// keep growing over a restart. They are unrelated to the revisions of ordinary keys.
type Clock struct {
	last atomic.Int64
	now  func() time.Time
}

// Next returns a revision greater than all previous ones.
func (c *Clock) Next() int64 {
	now := c.now().UnixMicro()
	for {
		last := c.last.Load()
		if n := max(last+1, now); c.last.CompareAndSwap(last, n) {
			return n
		}
	}
}

// Current returns the latest assigned revision.
func (c *Clock) Current() int64 { return c.last.Load() }
