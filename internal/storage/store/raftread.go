package store

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"fiveways.dev/fiveways/internal/storage/wal"
)

// raftCursor reads entries of the replicated log in order.
type raftCursor struct {
	r      *RaftLog
	bodies bool // also read the entries of shards
	index  uint64
	img    *image // the one walk reads; nil: look it up
	walk   wal.Walker
	at     int64 // offset of the entry read last
}

func (r *RaftLog) cursor(index uint64, bodies bool) *raftCursor {
	return &raftCursor{r: r, bodies: bodies, index: index}
}

// next returns the entry at index and advances to the one after it. size is its size in the file.
// Without bodies the entries of its batch have no Data.
func (c *raftCursor) next() (e RaftEntry, size int64, err error) {
	for {
		fresh := c.img == nil
		if fresh {
			if err := c.lookUp(); err != nil {
				return e, 0, err
			}
		}
		e, err = c.read()
		if err == nil {
			c.index++
			return e, c.walk.Offset() - c.at, nil
		}
		img, at := c.img, c.walk.Offset()
		c.img = nil
		switch {
		case errors.Is(err, errStale):
		case err == io.EOF && !fresh: // it is in the next segment
		case err == io.EOF:
			return e, 0, fmt.Errorf("store: %w: entry %d of the replicated log is not in %s", ErrCorrupt, c.index, img.name)
		default:
			return e, 0, img.damaged(at, err)
		}
	}
}

func (c *raftCursor) lookUp() error {
	img, off, end, err := c.r.s.find(wal.RaftShard, c.index)
	if err != nil {
		return err
	}
	ahead := replayBytes
	if !c.bodies {
		ahead = readAheadBytes
	}
	c.img = img
	c.walk = wal.NewWalker(imageReader{&c.r.s.files, img}, img.salt, off, end, ahead, true)
	return nil
}

// read reads the entry at index, which is not before the position of the walk.
func (c *raftCursor) read() (e RaftEntry, err error) {
	var h wal.Header
	for {
		if h, err = c.walk.Peek(); err != nil {
			return e, err
		}
		if h.Kind == wal.KindRaft && h.Index >= c.index {
			break
		}
		c.walk.Skip(&h)
	}
	c.at = c.walk.Offset()
	h, payload, err := c.walk.Frame()
	if err != nil {
		return e, err
	}
	head, err := wal.DecodeRaftHead(payload)
	if err == nil && h.Index != c.index {
		err = wal.ErrBadFrame
	}
	if err != nil {
		return e, err
	}
	e = RaftEntry{EntryID: EntryID{h.Index, h.Term}, Type: head.Type, Data: head.Data}
	for h.Flags&wal.Continued != 0 {
		if c.bodies {
			h, payload, err = c.walk.Frame()
		} else if h, err = c.walk.Peek(); err == nil {
			c.walk.Skip(&h)
			payload = nil
		}
		if err != nil {
			return e, err
		}
		e.Batch = append(e.Batch, Entry{Shard: h.Shard, Index: h.Index, Data: payload, Refs: int(h.Refs)})
	}
	return e, nil
}

// lastHead returns the Raft head in the last frame of the replicated log, which records the commit.
func (r *RaftLog) lastHead(last uint64) (wal.RaftHead, error) {
	c := r.cursor(last, false)
	if err := c.lookUp(); err != nil {
		return wal.RaftHead{}, err
	}
	for {
		h, payload, err := c.walk.Frame()
		if err != nil {
			return wal.RaftHead{}, c.img.damaged(c.walk.Offset(), err)
		}
		if h.Kind == wal.KindRaft && h.Index == last {
			return wal.DecodeRaftHead(payload)
		}
	}
}

// beginRaft reads the state of a replica before its log is read.
func (s *Store) beginRaft() error {
	st, err := readRaftState(s.fs, s.dir)
	if st == nil || err != nil {
		return err
	}
	if s.opts.Sync != SyncAlways || s.opts.Scratch {
		return fmt.Errorf("store: %w, which syncs always: the others rely on what it says that it has", ErrReplica)
	}
	s.raft = &RaftLog{s: s, state: *st, grows: sync.Cond{L: &s.mu}}
	l := s.shard(wal.RaftShard)
	l.last, l.written, l.durable, l.checkpoint = st.First.Index, st.First.Index, st.First.Index, st.First.Index
	return nil
}

// closeRaft ends all waits for a commit.
func (s *Store) closeRaft() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.raft != nil {
		s.raft.tellAll(ErrClosed)
	}
}

// recoverRaft restores the state of the replicated log from its end: the entries not known to be
// committed, and the shard entries they hold.
func (s *Store) recoverRaft() error {
	l := s.shards[wal.RaftShard]
	if s.raft == nil {
		if l != nil {
			return fmt.Errorf("store: %w: %s: the log is that of a replica, and the state of the replica is not there", ErrCorrupt, s.dir)
		}
		return nil
	}
	r := s.raft
	defer s.files.closeAll() // the last segment is about to be opened for writing
	r.committed = max(r.state.Commit, r.state.First.Index)
	if l.last < r.committed {
		return fmt.Errorf("store: %w: %s: the log ends with entry %d, of which entry %d was committed", ErrCorrupt, s.dir, l.last, r.committed)
	}
	for _, other := range s.shards {
		other.committed = other.last
	}
	if l.last == r.state.First.Index {
		return nil
	}
	head, err := r.lastHead(l.last)
	if err != nil {
		return err
	}
	r.committed = max(r.committed, head.Commit)
	// The last committed one is read, too, for its term.
	for c := r.cursor(max(min(r.committed, l.last), r.First()), false); c.index <= l.last; {
		e, _, err := c.next()
		if err != nil {
			return err
		}
		r.noteTerm(e.EntryID)
		if e.Index <= r.committed {
			continue
		}
		ranges := shardRanges(e.Batch)
		r.tail = append(r.tail, tailEntry{shards: ranges})
		for _, sr := range ranges {
			if sr.first <= s.shard(sr.shard).newest { // no checkpoint covers uncommitted entries
				r.committed, r.tail = e.Index, nil
			}
		}
	}
	l.committed = r.committed
	for _, e := range slices.Backward(r.tail) {
		for _, sr := range e.shards {
			s.shard(sr.shard).committed = sr.first - 1
		}
	}
	return nil
}
