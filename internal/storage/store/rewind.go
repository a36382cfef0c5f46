package store

import (
	"fmt"
	"slices"

	"fiveways.dev/fiveways/internal/storage/vfs"
	"fiveways.dev/fiveways/internal/storage/wal"
)

// Rewind cuts the uncommitted entries from index on and returns once a crash cannot bring them
// back. The next Append takes their place. The dones of the cut entries are called first. After a
// crash during Rewind the log may end with any of the entries to be cut; cutting again has the same
// result. It returns ErrFailed or ErrClosed.
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

// rewind does the work of Rewind, after everything appended before is written and synced and its
// dones are called.
func (c *committer) rewind(index uint64) {
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
	s.mu.Unlock()
	t, err := wal.ScanTail(imageReader{&s.files, cur.img}, cur.at, seg.number)
	if err != nil || t.End != cur.at {
		return fmt.Errorf("store: %s: cut at offset %d: the frames end at %d: %w", seg.img.name, cur.at, t.End, err)
	}
	f := c.file
	if seg != c.seg {
		if f, err = s.fs.OpenReadWrite(seg.img.path); err != nil {
			return err
		}
	}
	later := c.unpublish(index, seg, f, &t) // before a byte of the file changes
	// The last one is removed first, and each removal is durable: a crash leaves no hole.
	for _, gone := range slices.Backward(later) {
		if err := s.fs.Remove(gone.img.path); err != nil {
			return err
		}
		if err := s.fs.SyncDir(s.dir); err != nil {
			return err
		}
	}
	// Durable before anything is written in its place: otherwise a crash could leave new frames
	// followed by old ones.
	if err := f.Truncate(t.End); err != nil {
		return err
	}
	return f.Datasync()
}

// unpublish hides the entries from index on from readers and moves the committer to where they
// began: in seg, whose file is f and of which t is left. It returns the segments after seg.
func (c *committer) unpublish(index uint64, seg *segment, f vfs.File, t *wal.Tail) (later []*segment) {
	s := c.s
	s.files.mu.Lock()
	defer s.files.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.Index(s.segments, seg) + 1
	later = slices.Clone(s.segments[at:])
	s.segments = slices.Delete(s.segments, at, len(s.segments))
	if seg == c.seg {
		seg.img.file = nil // the new image owns it
	}
	c.seg.img.users--
	for _, gone := range later {
		for shard := range gone.index {
			s.shard(shard).drop(gone)
		}
		s.files.retire(gone.img)
	}
	s.files.retire(seg.img)
	seg.img = &image{name: seg.img.name, path: seg.img.path, salt: seg.img.salt}
	s.raft.forget(index, seg, t.Index)
	s.cuts.Add(1)
	seg.planned, seg.written, seg.bytes, seg.sealed, seg.dead = t.End, t.End, t.End, false, 0
	c.begin(seg, f, t.End)
	return later
}

// forget removes the entries from index on from the indexes in memory. seg is where the log now
// ends, and x its index. Called with mu held.
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
