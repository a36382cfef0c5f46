package backpressure

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

// Pace slows the publishers of a queue down to the speed of consumers that nearly keep up with
// them, so that both work from memory and caches: a backlog would cost both more than the wait. A
// queue without consumers, or with far slower ones, is meant to hold a backlog, and slows no
// publisher down. The wait grows with the backlog and ends with it.
type Pace struct {
	hold atomic.Int64 // ns

	published, handedOut uint64 // at the last measurement
	alike                bool   // the consumers have taken at least a quarter of what was published since
}

// Hold returns how long a publisher's connection must wait after each read, ns. Any goroutine may
// call it.
func (p *Pace) Hold() int64 { return p.hold.Load() }

// Update is called when the shard has finished its work on the queue, with counts of the queue's
// messages, their bytes in memory, and whether it has consumers.
func (p *Pace) Update(published, handedOut uint64, bytes int64, consumed bool) {
	if n := published - p.published; n >= paceWindow {
		p.alike = (handedOut-p.handedOut)*4 >= n
		p.published, p.handedOut = published, handedOut
	}
	var hold time.Duration
	if over := bytes - paceBytes; over > 0 && p.alike && consumed {
		hold = min(time.Duration(over>>18)*paceStep, paceMax)
	}
	if p.hold.Load() != int64(hold) {
		p.hold.Store(int64(hold))
	}
}
