package shard

import (
	"sync"
	"sync/atomic"
)

// flowBytes is how much may wait to be written to the log before publishers are blocked.
const flowBytes = 16 << 20

// flow holds publishers back, each on its own connection, while the log is behind or memory is used
// up; consumers continue. When that lasts, the watchdog raises an alarm: then the protocols stop
// reading and say so to their clients.
type flow struct {
	over    func() bool // overMark
	waiting atomic.Int32

	mu     sync.Mutex
	cond   *sync.Cond
	closed bool
}

// init makes the flow of the broker whose overMark is over.
func (f *flow) init(over func() bool) {
	f.over = over
	f.cond = sync.NewCond(&f.mu)
}

// Await returns when there is room, or an alarm.
func (f *flow) Await() {
	if !f.over() {
		return
	}
	f.mu.Lock()
	f.waiting.Add(1)
	for f.over() && !f.closed {
		f.cond.Wait()
	}
	f.waiting.Add(-1)
	f.mu.Unlock()
}

// Relieve resumes the publishers that wait, if there is room. Any goroutine that has made room
// calls it.
func (f *flow) Relieve() {
	if f.waiting.Load() == 0 || f.over() {
		return
	}
	f.mu.Lock()
	f.cond.Broadcast()
	f.mu.Unlock()
}

// Close ends all waits, now and from now on.
func (f *flow) Close() {
	f.mu.Lock()
	f.closed = true
	f.cond.Broadcast()
	f.mu.Unlock()
}

// OverMark reports whether publishers must wait.
func (s *Set) OverMark() bool {
	if s.Alarmed.Load() {
		return false
	}
	return s.Log.Pending() >= flowBytes || s.Memory.Load() > s.MemoryLimit
}
