package store

import (
	"sync"
	"time"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// behindDelay is how long a store with SyncOS waits after a write before it syncs.
const behindDelay = time.Second

// syncs serializes the syncs of the log's files.
//
// Invariant: no sync succeeds after one has failed. The kernel reports a failure once, to the first
// caller. Without this rule a client's sync could appear to succeed because the background sync
// received the failure.
type syncs struct {
	one    chan struct{}  // 1 slot, taken during a sync, which is too long to hold a mutex
	err    error          // guarded by one
	behind sync.WaitGroup // the background sync's goroutine, at most one
}

func (s *syncs) datasync(f vfs.File) error {
	s.one <- struct{}{}
	defer func() { <-s.one }()
	if s.err == nil {
		s.err = f.Datasync()
	}
	return s.err
}

// mark is what a background sync makes durable: everything written before it began.
type mark struct {
	seg     *segment
	at      int64
	seq     uint64
	written map[uint32]uint64 // by shard
	took    time.Duration
	err     error
}

// syncBehind starts a background sync on its own goroutine. Its mark comes back as an op.
func (c *committer) syncBehind() {
	s := c.s
	m := &mark{seg: c.seg, at: c.at, seq: c.seq, written: map[uint32]uint64{}}
	s.mu.Lock()
	for shard, l := range s.shards {
		m.written[shard] = l.written
	}
	s.mu.Unlock()
	s.files.mu.Lock()
	m.seg.img.users++ // keeps the file open even if the segment is sealed meanwhile
	s.files.mu.Unlock()
	c.behind, c.due = true, time.Time{}
	img, file := m.seg.img, c.file
	s.syncs.behind.Go(func() {
		start := time.Now()
		m.err = s.syncs.datasync(file)
		m.took = time.Since(start)
		s.files.release(img)
		s.mu.Lock()
		s.push(op{mark: m}, true)
	})
}

// reached records what a background sync has made durable.
func (c *committer) reached(m *mark) {
	c.behind = false
	switch {
	case c.failed != nil:
		return
	case m.err != nil:
		c.fail(m.err)
		return
	}
	if m.seg == c.seg {
		c.synced = max(c.synced, m.at)
		c.dirty = c.dirty && c.at > m.at
	}
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.synced(m.took)
	s.stats.syncGroups.Observe(max(m.seq, s.durable)-s.durable, 1)
	for shard, index := range m.written {
		l := s.shards[shard]
		l.durable = max(l.durable, index)
	}
	s.durable = max(s.durable, m.seq)
}
