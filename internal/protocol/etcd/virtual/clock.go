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

// maxSkew bounds by how much a client can set the clock forward.
const maxSkew = 24 * time.Hour

// Reach reports whether the clock has not reached the start revision of a watch: it was assigned by
// another node whose time is ahead, or before the time of this one was set back. Then it sets the
// clock forward, so that revisions keep growing for this client.
func (c *Clock) Reach(start int64) (ahead bool) {
	now := c.now().UnixMicro()
	for {
		last := c.last.Load()
		if start <= max(last, now)+1 || start > now+maxSkew.Microseconds() {
			return false
		}
		if c.last.CompareAndSwap(last, start-1) {
			return true
		}
	}
}

// Current returns the latest assigned revision.
func (c *Clock) Current() int64 { return c.last.Load() }
