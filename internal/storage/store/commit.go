package store

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"fiveways.dev/fiveways/internal/storage/vfs"
	"fiveways.dev/fiveways/internal/storage/wal"
)

const (
	// flushBytes is the amount of buffered data that triggers a write.
	flushBytes = 1 << 20
	// directBytes is the size from which an entry's data is written in place instead of being
	// copied to the buffer.
	directBytes = 64 << 10
	// retryEvery is the interval between retries of a write to a full disk.
	retryEvery = 100 * time.Millisecond
)

// committer writes appended entries. It belongs to the current leader (leader.go).
type committer struct {
	s    *Store
	seg  *segment // being written
	file vfs.File // of seg

	buf    []byte // frames not yet written
	at     int64  // file offset at which buf will be written
	synced int64  // offset up to which the file is durable
	laid   int64  // size of the file: zeros from at on

	seq      uint64    // of the last group written
	buffered []op      // their frames are in buf, at least in part
	waiting  []op      // written, done not yet called
	dirty    bool      // some written data is not synced
	behind   bool      // a background sync is running
	due      time.Time // when the next delayed sync must start; zero if there is none
	failed   error     // no more writes are possible

	taken []op // ops of this round; the slice is reused

	waits  bool // the leader may wait for disk space: it is the committer's goroutine
	leaves bool // the leader could not wait: buf and the rest of taken are left to that goroutine
}

func newCommitter(s *Store) *committer {
	return &committer{s: s}
}

// round writes the taken ops and calls the dones that are due. If the disk is full and waits is
// false, it leaves the rest to the committer's goroutine, unless it has already started another
// segment.
func (c *committer) round(waits bool) {
	c.waits, c.leaves = waits, false
	n := 0
	for ; n < len(c.taken) && !c.leaves; n++ {
		if o := &c.taken[n]; o.seg != nil && o.seg != c.seg || o.raft != nil && o.raft.rewind > 0 {
			if c.flush(); c.leaves {
				break
			}
			c.waits = true
		}
		c.add(&c.taken[n])
	}
	c.taken = slices.Delete(c.taken, 0, n)
	c.flush()
	c.settle(false)
}

// add appends the frames of an op to the buffer, and flushes it before another segment or a rewind.
func (c *committer) add(o *op) {
	if o.mark != nil {
		c.reached(o.mark)
		return
	}
	if o.raft != nil && o.raft.rewind > 0 {
		c.rewind(o.raft.rewind)
	}
	if o.seg == nil {
		c.buffered = append(c.buffered, *o)
		return
	}
	if c.failed == nil && o.seg != c.seg {
		c.roll(o.seg)
	}
	c.buffered = append(c.buffered, *o)
	term := uint64(1)
	if o.raft != nil {
		term = o.raft.term
		c.addMark(o.raft)
	}
	for i := range o.group {
		if c.failed != nil {
			return
		}
		c.addEntry(&o.group[i], term, i < len(o.group)-1)
	}
	if len(c.buf) >= flushBytes {
		c.flush()
	}
}

func (c *committer) addEntry(e *Entry, term uint64, continued bool) {
	h := wal.Header{Kind: wal.KindFacts, Shard: e.Shard, Index: e.Index, Term: term, Synced: uint32(c.synced), Refs: asRefs(e.Refs)}
	if continued {
		h.Flags = wal.Continued
	}
	if e.Shard == wal.RaftShard {
		h.Kind = wal.KindRaft
	}
	c.buf = wal.AppendHeader(c.buf, c.seg.img.salt, &h, e.Data)
	if len(e.Data) < directBytes {
		c.buf = append(c.buf, e.Data...)
		return
	}
	c.writeBuf()
	c.write(e.Data)
	if c.leaves {
		c.buf = append(c.buf, e.Data...)
	}
}

// flush writes the buffer and makes its entries visible to readers.
func (c *committer) flush() {
	c.writeBuf()
	if len(c.buffered) == 0 || len(c.buf) > 0 {
		return
	}
	if c.failed == nil {
		c.publish()
		c.tellWritten()
	}
	c.waiting = append(c.waiting, c.buffered...)
	c.buffered = slices.Delete(c.buffered, 0, len(c.buffered))
}

func (c *committer) publish() {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range c.buffered {
		o := &c.buffered[i]
		for j := range o.group {
			s.shard(o.group[j].Shard).written = o.group[j].Index
		}
		if o.seg != nil {
			o.seg.written, o.seg.bytes = o.end, o.end
			s.bytes -= o.size
			s.stats.groups++
			c.seq = o.seq
		}
	}
}

func (c *committer) tellWritten() {
	for i := range c.buffered {
		for j := range c.buffered[i].group {
			if fn := c.buffered[i].group[j].Written; fn != nil {
				fn()
			}
		}
	}
}

func (c *committer) writeBuf() {
	if len(c.buf) == 0 {
		return
	}
	if c.write(c.buf); !c.leaves || c.failed != nil {
		c.buf = c.buf[:0]
	}
}

// write writes p at the end of the file. While the disk is full it settles what is already written
// and retries, or leaves p to the committer's goroutine. On any other error the committer has
// failed.
func (c *committer) write(p []byte) {
	if c.failed != nil || c.leaves && len(c.buf) > 0 {
		return
	}
	c.untilRoom(func() error {
		_, err := c.file.WriteAt(p, c.at)
		if isFull(err) {
			if terr := c.file.Truncate(c.at); terr != nil {
				return terr // a disk that cannot even release space is broken, not full
			}
			c.laid = c.at
		}
		return err
	})
	if c.leaves {
		return
	}
	c.at += int64(len(p))
	c.dirty = true // set only now: waiting for space may have synced the data before
	c.layOut(len(p))
}

// untilRoom retries an operation that needs disk space, or a file to open, until it succeeds, fails
// for another reason, or the store is closed.
func (c *committer) untilRoom(try func() error) {
	for {
		err := try()
		switch {
		case err == nil:
			if c.s.State().Health == NoSpace {
				c.s.setState(State{})
			}
			return
		case !isFull(err):
			c.fail(err)
			return
		}
		c.s.setState(State{Health: NoSpace, Err: fmt.Errorf("store: %s: %w", c.s.dir, err)})
		if !c.waits {
			c.leaves = true
			return
		}
		c.settle(false)
		if c.failed != nil {
			return
		}
		select {
		case <-time.After(retryEvery):
		case <-c.s.retry:
		case <-c.s.closing:
			c.failed = ErrClosed
			return
		}
	}
}

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || vfs.IsOutOfFiles(err)
}

func (c *committer) fail(err error) {
	c.failed = fmt.Errorf("%w: %w", ErrFailed, err)
	c.due = time.Time{} // without this the committer would spin
	c.s.setState(State{Health: Failed, Err: c.failed})
}

// settle calls the dones that are due, after a sync if one is needed. closing syncs everything
// written.
func (c *committer) settle(closing bool) {
	if c.failed == nil {
		c.plan(closing)
	}
	if c.failed != nil {
		c.finish(len(c.waiting))
		return
	}
	n := len(c.waiting)
	if c.dirty {
		for n = 0; n < len(c.waiting) && c.waiting[n].wait == WaitNot && !c.waiting[n].sync; n++ {
		}
	}
	c.finish(n)
}

// plan syncs now or sets when the next sync is due.
func (c *committer) plan(closing bool) {
	if c.s.opts.Scratch {
		c.dirty = false
	}
	if !c.dirty {
		c.due = time.Time{}
		return
	}
	wait, force := WaitNot, closing
	for i := range c.waiting {
		wait = max(wait, c.waiting[i].wait)
		force = force || c.waiting[i].sync
	}
	if force || wait == WaitSync {
		c.sync()
		return
	}
	delay, behind := c.s.opts.LazySync, false
	switch {
	case wait == WaitBatch:
		delay = min(delay, c.s.opts.BatchDelay)
	case c.s.opts.Sync == SyncOS:
		if c.behind {
			c.due = time.Time{} // the end of that sync starts the next round
			return
		}
		delay, behind = behindDelay, true
	}
	now := time.Now()
	if due := now.Add(delay); c.due.IsZero() || due.Before(c.due) {
		c.due = due
	}
	switch {
	case now.Before(c.due):
	case behind:
		c.syncBehind()
	default:
		c.sync()
	}
}

// sync makes everything written durable. A failed fsync is never retried: the kernel may have
// dropped the pages.
func (c *committer) sync() {
	start := time.Now()
	if err := c.datasync(); err != nil {
		c.fail(err)
		return
	}
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.opts.Scratch {
		s.stats.synced(time.Since(start))
		s.stats.syncGroups.Observe(c.seq-s.durable, 1)
	}
	c.synced = c.seg.written
	c.dirty, c.due = false, time.Time{}
	for _, l := range s.shards {
		l.durable = l.written
	}
	s.durable = c.seq
}

func (c *committer) datasync() error {
	if c.s.opts.Scratch {
		return nil
	}
	return c.s.syncs.datasync(c.file)
}

// finish removes the first n waiting ops and calls their dones.
func (c *committer) finish(n int) {
	if n == 0 {
		return
	}
	if c.failed != nil {
		c.s.mu.Lock()
		for i := range c.waiting[:n] {
			if o := &c.waiting[i]; o.seg != nil && o.seg.written < o.end {
				c.s.bytes -= o.size
			}
		}
		c.s.mu.Unlock()
	}
	for i := range c.waiting[:n] {
		if done := c.waiting[i].done; done != nil {
			done(c.failed)
		}
	}
	c.waiting = slices.Delete(c.waiting, 0, n)
}
