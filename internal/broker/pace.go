package broker

import (
	"sync/atomic"
	"time"
)

const (
	paceBytes  = 1 << 20              // a backlog in memory up to this size is a buffer, not a problem
	paceWindow = 4096                 // publishes between two looks at the pace of the consumers
	paceStep   = time.Millisecond / 4 // for each 256 KiB beyond: shorter sleeps cost more than they give
	paceMax    = 20 * time.Millisecond
)

// pace slows publishers down to the speed of consumers that nearly keep up with
// them, so that both run from memory and caches, instead of building a backlog
// that costs both of them more than it gives. A queue without consumers, or
// with ones that are far slower, is there to hold a backlog: nobody waits for
// it. The wait grows with the backlog and ends with it.
type pace struct {
	hold atomic.Int64 // ns that a publisher's connection waits after each read; read by sessions

	published, delivered uint64 // counts of the queue at the last look
	alike                bool   // the consumers took at least a quarter of what was published since
}

// update is called by the queue's shard when the queue has come to rest.
func (p *pace) update(q *Queue) {
	if n := q.counts.Published - p.published; n >= paceWindow {
		p.alike = (q.counts.HandedOut()-p.delivered)*4 >= n
		p.published, p.delivered = q.counts.Published, q.counts.HandedOut()
	}
	var hold time.Duration
	if over := q.hot - paceBytes; over > 0 && p.alike && q.consumers.Len() > 0 {
		hold = min(time.Duration(over>>18)*paceStep, paceMax)
	}
	if p.hold.Load() != int64(hold) {
		p.hold.Store(int64(hold))
	}
}
