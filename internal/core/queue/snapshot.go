package queue

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"fiveways.dev/fiveways/internal/core/codec"
)

// ErrCorrupt is returned by Restore for bytes that AppendTo has not written.
var ErrCorrupt = errors.New("queue: corrupt snapshot")

// The format of a snapshot is
//
//	version u8 | lane ... | 0x00
//	lane:  0x01 | priority u8 | uvarint next | chunk ... | 0x00       highest priority first
//	       0x02 | priority u8 | uvarint next | uvarint low | chunk ... | 0x00       a front lane
//	chunk: tag u8 | uvarint chunks since the one before | live | [scheduled] | [redelivered] | uvarint length | packed
//
// Bitmaps are four little-endian u64 words; tag says which optional ones are present. A reader
// skips messages in packed that are not live, and bits of scheduled for messages without a Due
// time.
const (
	snapshotVersion = 1

	tagLane      = 1
	tagFrontLane = 2

	tagChunk       = 1
	tagScheduled   = 2
	tagRedelivered = 4
)

// Frozen holds the persistent messages of a State at one moment. Another goroutine may use it.
type Frozen struct {
	lanes []frozenLane
}

type frozenLane struct {
	priority uint8
	next     uint64
	low      uint64
	chunks   []frozenChunk
}

type frozenChunk struct {
	base                         uint64
	live, scheduled, redelivered bitmap
	packed                       []byte
	mixed                        bool // packed has live messages that are not persistent
}

// Freeze returns the current persistent messages. It shares the bytes of packed chunks, copies
// bitmaps and encodes hot chunks.
func (s *Deliveries) Freeze() *Frozen {
	f := &Frozen{lanes: make([]frozenLane, 0, len(s.lanes))}
	for _, l := range s.lanes {
		fl := frozenLane{priority: l.priority, next: l.next, low: l.low, chunks: make([]frozenChunk, 0, len(l.row)-l.head-l.dead)}
		for _, e := range l.row[l.head:] {
			if e.chunk != nil && e.chunk.live > 0 {
				fl.chunks = append(fl.chunks, e.chunk.freeze())
			}
		}
		f.lanes = append(f.lanes, fl)
	}
	return f
}

func (c *chunk) freeze() frozenChunk {
	f := frozenChunk{
		base: c.base, live: c.liveMap(), scheduled: c.state[Scheduled-1], redelivered: c.redelivered,
		packed: c.packed, mixed: c.mixed,
	}
	for i, blocked := range c.state[Blocked-1] {
		f.scheduled[i] |= blocked // Restore will see whether it has a Due time
	}
	if c.packed != nil {
		return f
	}
	e := getEncoder()
	for slot := f.live.from(0); slot < chunkLen; slot = f.live.from(slot + 1) {
		if it := c.hotItem(slot); it.Flags&Persistent != 0 {
			e.add(slot, it)
		} else {
			f.live.clear(slot)
		}
	}
	f.packed, f.mixed = e.finish(), false
	return f
}

// filter returns only the persistent messages of a mixed chunk.
func (f frozenChunk) filter() frozenChunk {
	e := getEncoder()
	for d := newDecoder(f.packed); d.next(); {
		if !f.live.has(d.slot) {
			continue
		}
		if d.it.Flags&Persistent != 0 {
			e.add(d.slot, &d.it)
		} else {
			f.live.clear(d.slot)
		}
	}
	f.packed, f.mixed = e.finish(), false
	return f
}

// AppendTo appends the snapshot of the persistent messages to dst.
func (s *Deliveries) AppendTo(dst []byte) []byte { return s.Freeze().AppendTo(dst) }

// AppendTo appends the snapshot to dst.
func (f *Frozen) AppendTo(dst []byte) []byte {
	f.Pieces(func(piece []byte) { dst = append(dst, piece...) })
	return dst
}

// Pieces calls do with consecutive pieces of the snapshot, which has 120 MB for 100,000,000
// messages. A piece is valid only during the call.
func (f *Frozen) Pieces(do func(piece []byte)) {
	buf := []byte{snapshotVersion}
	for _, l := range f.lanes {
		if l.low == 1 {
			buf = append(buf, tagLane, l.priority)
			buf = binary.AppendUvarint(buf, l.next)
		} else {
			buf = append(buf, tagFrontLane, l.priority)
			buf = codec.AppendUvarints(buf, l.next, l.low)
		}
		var before uint64
		for _, c := range l.chunks {
			if c.mixed {
				c = c.filter()
			}
			if c.live.empty() {
				continue
			}
			buf = c.appendTo(buf, before)
			do(buf)
			buf, before = buf[:0], c.base/chunkLen+1
		}
		buf = append(buf, 0)
	}
	do(append(buf, 0))
}

// appendTo appends the chunk; before is one more than the number of the previous chunk.
func (f *frozenChunk) appendTo(dst []byte, before uint64) []byte {
	at := len(dst)
	dst = append(dst, tagChunk)
	dst = binary.AppendUvarint(dst, f.base/chunkLen-before)
	dst = f.live.appendTo(dst)
	for i := range f.live {
		f.scheduled[i] &= f.live[i]
		f.redelivered[i] &= f.live[i]
	}
	if !f.scheduled.empty() {
		dst[at] |= tagScheduled
		dst = f.scheduled.appendTo(dst)
	}
	if !f.redelivered.empty() {
		dst[at] |= tagRedelivered
		dst = f.redelivered.appendTo(dst)
	}
	e := getEncoder()
	defer encoders.Put(e)
	e.dst = appendWithoutRuns(e.dst, f.packed)
	return codec.AppendPrefixed(dst, e.dst)
}

func (b *bitmap) appendTo(dst []byte) []byte {
	for _, w := range b {
		dst = binary.LittleEndian.AppendUint64(dst, w)
	}
	return dst
}

// Restore replaces the contents with those of a snapshot. The messages are packed, and ready or
// scheduled, because a snapshot does not record deliveries. On an error, which wraps ErrCorrupt,
// the queue is empty. It does not retain b.
func (s *State) Restore(b []byte) error {
	*s = State{}
	var r snapshotReader
	r.Reset(b)
	if err := r.restore(s); err != nil {
		*s = State{}
		return fmt.Errorf("%w: %w", ErrCorrupt, err)
	}
	s.checkInvariants()
	return nil
}

// snapshotReader reads the parts of a snapshot.
type snapshotReader struct{ codec.Reader }

// fail sets the error, unless there already is one.
func (r *snapshotReader) fail(what string) {
	if r.Err() == nil {
		r.Fail(fmt.Errorf("%s with %d bytes left", what, r.Len()))
	}
}

func (r *snapshotReader) bitmap() (m bitmap) {
	for i := range m {
		m[i] = r.Uint64LE()
	}
	return m
}

func (r *snapshotReader) restore(s *State) error {
	if r.Uint8() != snapshotVersion {
		r.fail("unknown version")
	}
	last := math.MaxUint8 + 1
	for {
		more := r.Uint8()
		if more == 0 {
			break
		}
		priority := r.Uint8()
		next, low := r.Uvarint(), uint64(1)
		if more == tagFrontLane {
			if low = r.Uvarint(); low < frontFloor {
				r.fail("bad front lane")
				break
			}
		} else if more != tagLane {
			r.fail("bad lane")
			break
		}
		if int(priority) >= last || next < low || next > seqMask+1 {
			r.fail("bad lane")
			break
		}
		last = int(priority)
		l := s.laneFor(priority)
		l.next, l.low = next, low
		for before := uint64(0); r.chunk(s, l, &before); {
		}
	}
	return r.End()
}

// chunk reads one chunk of a lane. It returns false at the end of the lane and after a failure.
func (r *snapshotReader) chunk(s *State, l *lane, before *uint64) bool {
	tag := r.Uint8()
	if tag == 0 {
		return false
	}
	gap := r.Uvarint()
	live := r.bitmap()
	var scheduled, redelivered bitmap
	if tag&tagScheduled != 0 {
		scheduled = r.bitmap()
	}
	if tag&tagRedelivered != 0 {
		redelivered = r.bitmap()
	}
	packed := r.Prefixed()
	if r.Err() != nil {
		return false
	}
	if tag&^(tagScheduled|tagRedelivered) != tagChunk || live.empty() || gap >= seqMask {
		r.fail("bad chunk")
		return false
	}
	number := *before + gap
	base := number * chunkLen
	if number > seqMask/chunkLen || base+uint64(live.from(0)) < l.low || base+uint64(live.last()) >= l.next {
		r.fail("chunk out of place")
		return false
	}
	*before = number + 1

	c := newChunk(l, base)
	l.push(c)
	e := getEncoder()
	var ok bool
	e.dst, ok = appendWithRuns(e.dst, packed)
	c.packed, c.redelivered = e.finish(), redelivered
	if !ok || !s.adopt(c, live, scheduled) {
		r.fail("bad messages")
		return false
	}
	return true
}

// adopt checks the packed bytes of a restored chunk and counts its messages. It returns false if
// they do not match live.
func (s *Deliveries) adopt(c *chunk, live, scheduled bitmap) bool {
	expires, due := int64(never), int64(never)
	d := newDecoder(c.packed)
	for d.next() {
		c.encoded++
		if !live.has(d.slot) {
			continue
		}
		it := &d.it
		if it.Flags&Redelivered != 0 || it.Flags&Persistent == 0 {
			return false
		}
		status := Ready
		if scheduled.has(d.slot) && it.Due != 0 {
			status = Scheduled
			due = min(due, it.Due)
		}
		if it.Expires != 0 {
			expires = min(expires, it.Expires)
		}
		c.noteIndex(it)
		s.move(c, d.slot, Gone, status, it.Size)
	}
	if d.Err() != nil || int(c.live) != live.count() {
		return false
	}
	if expires != never {
		s.setKey(&s.expiring, c, byExpiry, expires)
	}
	if due != never {
		s.setKey(&s.due, c, byDue, due)
	}
	return true
}
