package shard

import (
	"sync/atomic"
	"time"
)

const (
	paceBytes  = 1 << 20              // a backlog in memory up to this size slows no publisher down
	paceWindow = 4096                 // publishes between two measurements of the consumers
	paceStep   = time.Millisecond / 4 // for each 256 KiB beyond; shorter sleeps cost more than they gain
	paceMax    = 20 * time.Millisecond
)

// pace slows publishers down to the speed of consumers that nearly keep up with them, so that both
// work from memory and caches: a backlog would cost both more than the wait. A queue without
// consumers, or with far slower ones, is there to hold a backlog, and slows no publisher down. The
// wait grows with the backlog and ends with it.
type pace struct {
	hold atomic.Int64 // ns that a publisher's connection waits after each read; read by sessions

	published, delivered uint64 // counts of the queue at the last measurement
	alike                bool   // the consumers took at least a quarter of what was published since
}

// update runs at the queue's shard when the queue has come to rest.
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
