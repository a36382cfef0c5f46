package broker

import (
	"sync"
	"sync/atomic"
)

// flowBytes is how much may wait to be written to the log before publishers are held back.
const flowBytes = 16 << 20

// flow holds publishers back, each on its own connection, while the log is behind or memory is used
// up; consumers go on. When that lasts, the watchdog raises an alarm: then the protocols stop
// reading and say so to their clients.
type flow struct {
	over    func() bool // overMark
	waiting atomic.Int32

	mu     sync.Mutex
	cond   *sync.Cond
	closed bool
}

// await returns when there is room, or an alarm.
func (f *flow) await() {
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

// relieve resumes the publishers that wait, if there is room. Any goroutine that has made room
// calls it.
func (f *flow) relieve() {
	if f.waiting.Load() == 0 || f.over() {
		return
	}
	f.mu.Lock()
	f.cond.Broadcast()
	f.mu.Unlock()
}

func (f *flow) close() {
	f.mu.Lock()
	f.closed = true
	f.cond.Broadcast()
	f.mu.Unlock()
}

// overMark reports whether publishers must wait.
func (b *Broker) overMark() bool {
	if b.alarm.Load() != nil {
		return false
	}
	return b.wal.Pending() >= flowBytes || b.memory.Load() > b.opts.MemoryLimit
}
