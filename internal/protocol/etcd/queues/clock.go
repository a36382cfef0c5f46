package queues

import (
	"sync/atomic"
	"time"
)

// clock numbers what happens to keys of queues: revisions, in microseconds since 1970 so that they go on growing over a restart. They are not those of
// ordinary keys.
type clock struct {
	last atomic.Int64
	now  func() time.Time
}

// next is a revision above all before.
func (c *clock) next() int64 {
	now := c.now().UnixMicro()
	for {
		last := c.last.Load()
		if n := max(last+1, now); c.last.CompareAndSwap(last, n) {
			return n
		}
	}
}

// current is the last revision that was given.
func (c *clock) current() int64 { return c.last.Load() }
