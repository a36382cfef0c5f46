package store

import (
	"fmt"
	"slices"

	"fiveways/internal/storage/vfs"
	"fiveways/internal/storage/wal"
)

// Rewind cuts the entries from index on, which are not committed, and returns when a crash does not
// bring them back. What is appended next takes their place. The dones of entries that are cut are
// called before. After a crash on the way the log ends with any of the entries to be cut; cutting
// again is no different from cutting once. ErrFailed, ErrClosed.
func (r *RaftLog) Rewind(index uint64) error {
	s := r.s
	s.mu.Lock()
	last := s.shard(wal.RaftShard).last
	switch {
	case index <= r.committed:
		panic(fmt.Sprintf("store: cut from entry %d on, committed is %d", index, r.committed))
	case index > last:
		s.mu.Unlock()
		return nil
	case s.closed:
		s.mu.Unlock()
		return ErrClosed
	}
	result := make(chan error, 1)
	s.push(op{done: func(err error) { result <- err }, sync: true, raft: &raftOp{rewind: index}}, false)
	s.Commit()
	return <-result
}

// rewind does the work of Rewind, after everything that was appended before is written, synced and
// told.
func (c *committer) rewind(index uint64) {
	c.flush()
	c.settle(true)
	if c.failed != nil {
		return
	}
	if err := c.cutFrom(index); err != nil {
		c.fail(err)
	}
}

func (c *committer) cutFrom(index uint64) error {
	s := c.s
	cur := s.raft.cursor(index, false)
	if _, _, err := cur.next(); err != nil {
		return err
	}
	s.mu.Lock()
	seg := s.shard(wal.RaftShard).segmentOf(index)
	at := slices.Index(s.segments, seg)
	later := slices.Clone(s.segments[at+1:])
	s.mu.Unlock()
	var f vfs.File
	if seg == c.seg {
		f = c.file
	}
	// The last one goes first, each for good: a crash leaves a log without a hole.
	for _, gone := range slices.Backward(later) {
		if err := c.removeSegment(gone); err != nil {
			return err
		}
	}
	if f == nil {
		var err error
		if f, err = s.fs.OpenReadWrite(seg.img.path); err != nil {
			return err
		}
	}
	// Durable before anything is written in their place: otherwise a crash could leave new frames
	// with old ones behind them.
	if err := f.Truncate(cur.at); err != nil {
		return err
	}
	if err := f.Datasync(); err != nil {
		return err
	}
	t, err := wal.ScanTail(f, cur.at, seg.number)
	if err != nil || t.End != cur.at {
		return fmt.Errorf("store: %s: cut at offset %d: the frames end at %d: %w", seg.img.name, cur.at, t.End, err)
	}
	c.replaceImage(seg)
	s.mu.Lock()
	s.raft.forget(index, seg, t.Index)
	s.cuts.Add(1)
	seg.planned, seg.written, seg.bytes, seg.sealed, seg.dead = cur.at, cur.at, cur.at, false, 0
	s.mu.Unlock()
	c.begin(seg, f, cur.at)
	return nil
}

func (c *committer) removeSegment(gone *segment) error {
	s := c.s
	s.forgetSegment(gone)
	if gone == c.seg {
		s.files.release(gone.img)
	}
	if err := s.fs.Remove(gone.img.path); err != nil {
		return err
	}
	return s.fs.SyncDir(s.dir)
}

// replaceImage makes readers look up again where entries of a segment are: the bytes behind the cut
// will be others.
func (c *committer) replaceImage(seg *segment) {
	s := c.s
	s.files.mu.Lock()
	defer s.files.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	old := seg.img
	if seg == c.seg { // the open file goes on with the new image
		old.file = nil
		old.users--
	}
	s.files.retire(old)
	seg.img = &image{name: old.name, path: old.path, salt: old.salt}
}

// forget makes the entries from index on unknown. seg is where the log ends now and x what it
// holds. Called with mu held.
func (r *RaftLog) forget(index uint64, seg *segment, x wal.Index) {
	s := r.s
	refs := int64(0)
	for _, e := range x {
		refs += int64(e.Refs)
	}
	kept := index - r.committed - 1
	for i, e := range r.tail[kept:] {
		if in := s.shard(wal.RaftShard).segmentOf(index + uint64(i)); in != nil {
			in.live -= e.refs
		}
	}
	seg.refs, seg.index = refs, x
	for _, e := range slices.Backward(r.tail[kept:]) {
		for _, sr := range e.shards {
			s.shard(sr.shard).cut(sr.first-1, seg)
		}
	}
	r.tail = r.tail[:kept]
	s.shard(wal.RaftShard).cut(index-1, seg)
	r.marks = 0
	r.terms = slices.DeleteFunc(r.terms, func(id EntryID) bool { return id.Index >= index })
	if index <= r.known {
		r.known = 0
	}
	r.tellWaits(func(w commitWait) bool { return w.index >= index }, ErrRewound)
}

// cut makes last the end of a shard's log, which is in seg or before it.
func (l *shardLog) cut(last uint64, seg *segment) {
	l.last, l.written, l.durable, l.hit = last, min(l.written, last), min(l.durable, last), 0
	if n := len(l.spans); n > 0 && l.spans[n-1].seg == seg {
		if l.spans[n-1].last = last; l.spans[n-1].first > last {
			l.spans = l.spans[:n-1]
		}
	}
}
