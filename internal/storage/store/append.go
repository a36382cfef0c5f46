package store

import (
	"fmt"
	"math/rand/v2"

	"fiveways/internal/storage/wal"
)

// op is one call of Append, or of SyncNow when it has no group, or a mark.
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
}

// Append adds a group of entries, which will be on disk as a whole or not at all. It does not wait. done is called on
// the goroutine that writes, in the order of the calls of Append, with ErrFailed or ErrClosed or
//   - after an fsync when an entry of the group has Wait set, at once or put off as that says;
//   - after the write otherwise, or in a scratch store.
//
// The group and its data may be used again after done. Indexes that do not follow, an empty group and a group of more
// than 1 GiB are broken invariants of the caller.
func (s *Store) Append(group []Entry, done func(error)) { s.append(group, done, true) }

// AppendOwn is Append for a caller who calls Commit soon, whatever happens: nobody else is told to write the group.
func (s *Store) AppendOwn(group []Entry, done func(error)) { s.append(group, done, false) }

func (s *Store) append(group []Entry, done func(error), wake bool) {
	o := op{group: group, done: done}
	for i := range group {
		o.size += wal.FrameHeaderSize + int64(len(group[i].Data))
		o.wait = max(o.wait, group[i].Wait)
	}
	if len(group) == 0 || o.size > maxGroupBytes {
		panic(fmt.Sprintf("store: append: %d entries of %d bytes", len(group), o.size))
	}
	if s.opts.Scratch {
		o.wait = WaitNot
	}

	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		done(ErrClosed)
		return
	}
	s.place(&o)
	s.appended++
	o.seq = s.appended
	s.bytes += o.size
	s.push(o, wake)
}

// SyncNow returns when all that was appended before is durable. A scratch store has only written it then. While the
// disk is full it waits.
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

// push hands an op to the committer and releases mu, which the caller holds.
func (s *Store) push(o op, wake bool) {
	s.turn.pending = append(s.turn.pending, o)
	s.wakeIf(wake && !s.turn.taken)
}

// place decides where a group goes before it is written, so that its references can be counted and its place looked up
// from now on. Called with mu held.
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
		seg.live += int64(e.Refs)
		l.extend(seg, e.Index)
	}
	o.seg, o.end = seg, seg.planned
}

// addSegment makes a segment that is not yet a file. Called with mu held.
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
