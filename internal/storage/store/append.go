package store

import (
	"fmt"
	"math/rand/v2"

	"fiveways.dev/fiveways/internal/storage/wal"
)

// op is one call of Append. Without a group it is one of SyncNow or Barrier, or a mark.
type op struct {
	group []Entry
	done  func(error)
	seg   *segment
	end   int64  // offset in seg after its last frame
	size  int64  // bytes of its frames
	seq   uint64 // Store.appended after it
	wait  Wait
	sync  bool // SyncNow: in every mode
	mark  *mark
	raft  *raftOp // nil on a single node
}

// Append appends a group of entries atomically: after a crash all of them are on disk or none. It
// does not wait. done is called on the writing goroutine, in the order of the calls of Append, with
// ErrFailed, ErrClosed, or the result
//   - after an fsync if an entry of the group sets Wait, which says how long that may be delayed;
//   - after the write otherwise, or in a scratch store.
//
// The caller may reuse the group and its data after done. It must not pass indexes with gaps, an
// empty group or one of more than 1 GiB.
func (s *Store) Append(group []Entry, done func(error)) { s.append(group, done, true) }

// AppendInline is Append for a caller that always calls Commit soon afterwards. It does not wake
// the committer's goroutine.
func (s *Store) AppendInline(group []Entry, done func(error)) { s.append(group, done, false) }

func (s *Store) append(group []Entry, done func(error), wake bool) {
	if s.raft != nil {
		panic("store: append past the replicated log")
	}
	s.enqueue(newOp(group, done), wake, nil)
}

func newOp(group []Entry, done func(error)) op {
	o := op{group: group, done: done}
	for i := range group {
		o.size += wal.FrameHeaderSize + int64(len(group[i].Data))
		o.wait = max(o.wait, group[i].Wait)
	}
	if len(group) == 0 || o.size > maxGroupBytes {
		panic(fmt.Sprintf("store: append: %d entries of %d bytes", len(group), o.size))
	}
	return o
}

// enqueue assigns a group its place. note, if not nil, is then called with mu held and the number
// of groups appended so far. (Passing o itself would move the op of every Append to the heap.)
func (s *Store) enqueue(o op, wake bool, note func(seq uint64)) {
	if s.opts.Scratch {
		o.wait = WaitNot
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		o.done(ErrClosed)
		return
	}
	s.place(&o)
	s.appended++
	o.seq = s.appended
	s.bytes += o.size
	if note != nil {
		note(o.seq)
	}
	s.push(o, wake)
}

// Barrier calls done once everything appended before for these shards is as safe as wait asks, or
// with the error that prevents it. If it is safe already, done runs on the caller's goroutine,
// otherwise on the writing goroutine, in order with the dones of Append.
func (s *Store) Barrier(shards []uint32, wait Wait, done func(error)) {
	s.mu.Lock()
	switch {
	case s.closed:
		s.mu.Unlock()
		done(ErrClosed)
	case s.state.Health == Healthy && s.safe(shards, wait):
		s.mu.Unlock()
		done(nil)
	default:
		s.push(op{done: done, wait: wait}, true)
	}
}

// safe reports whether the last entry of each shard is written, or durable if wait asks for a sync.
// Called with mu held.
func (s *Store) safe(shards []uint32, wait Wait) bool {
	for _, id := range shards {
		l := s.shards[id]
		if l != nil && (l.written < l.last || wait != WaitNot && l.durable < l.last) {
			return false
		}
	}
	return true
}

// SyncNow returns once everything appended before is durable, or only written in a scratch store.
// It waits while the disk is full.
func (s *Store) SyncNow() error {
	result := make(chan error, 1)
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return ErrClosed
	}
	s.push(op{done: func(err error) { result <- err }, sync: true}, true)
	return <-result
}

// push queues an op for the committer and releases mu, which the caller holds.
func (s *Store) push(o op, wake bool) {
	s.lead.pending = append(s.lead.pending, o)
	s.wakeIf(wake && !s.lead.taken)
}

// place assigns a group its segment and offset before it is written, so that its references can be
// counted and its position looked up from now on. Called with mu held.
func (s *Store) place(o *op) {
	seg := s.segments[len(s.segments)-1]
	if seg.sealed || seg.planned > wal.SegmentHeaderSize && seg.planned+o.size > s.opts.SegmentBytes {
		seg = s.addSegment(seg.number + 1)
	}
	for i := range o.group {
		e := &o.group[i]
		l := s.shard(e.Shard)
		if e.Index != l.last+1 {
			panic(fmt.Sprintf("store: append: entry %d of shard %d after entry %d", e.Index, e.Shard, l.last))
		}
		h := wal.Header{Shard: e.Shard, Index: e.Index, Refs: asRefs(e.Refs), Length: uint32(len(e.Data))}
		seg.index.Add(&h, seg.planned)
		seg.planned += h.Size()
		seg.refs += int64(e.Refs)
		if o.raft == nil || o.raft.applied {
			seg.live += int64(e.Refs)
		}
		l.extend(seg, e.Index)
	}
	o.seg, o.end = seg, seg.planned
}

// addSegment adds a segment whose file does not exist yet. Called with mu held.
func (s *Store) addSegment(number uint64) *segment {
	name := wal.SegmentName(number)
	seg := &segment{
		number:  number,
		img:     &image{name: name, path: s.path(name), salt: rand.Uint32()}, // #nosec G404 -- tells files apart; no secret
		index:   wal.Index{},
		planned: wal.SegmentHeaderSize,
	}
	s.segments = append(s.segments, seg)
	return seg
}
