package stream

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"fiveways.dev/fiveways/internal/core/codec"
	"fiveways.dev/fiveways/internal/core/queue"
)

// ErrCorrupt is returned by Restore for bytes that AppendTo has not written.
var ErrCorrupt = errors.New("stream: corrupt snapshot")

// The format of a snapshot, in unsigned varints except for the version and the names (length, then
// bytes):
//
//	version u8 | last | max deleted | added | n, n × (handle, id) | n, n × group
//	group:    name | last | read + 1 | n, n × consumer | n, n × (id, number of its consumer, time, count)
//	consumer: name | seen
//
// An id is the difference between its time and that of the previous id in its sequence (for the
// first: 0), then its sequence number or, if the times are equal, the difference from the previous
// one. A handle is the difference from the previous one.
const snapshotVersion = 1

// Frozen is the contents of a Stream at one moment. Another goroutine may use it.
type Frozen struct {
	head   Stream // without entries and groups
	blocks []block
	n      int
	groups []frozenGroup
}

type frozenGroup struct {
	name      string
	last      ID
	read      int64
	consumers []frozenConsumer
	pending   []Pending // the consumers in it are not accessed
	number    map[*Consumer]int
}

type frozenConsumer struct {
	name string
	seen int64
}

// Freeze copies the current stream.
func (s *Stream) Freeze() *Frozen {
	f := &Frozen{head: Stream{lastID: s.lastID, maxDeleted: s.maxDeleted, added: s.added}, blocks: s.index.clone(), n: s.index.n}
	for _, name := range s.Groups() {
		g := s.groups[name]
		fg := frozenGroup{name: name, last: g.Last, read: g.Read, number: map[*Consumer]int{}}
		for i, c := range g.Consumers() {
			fg.consumers = append(fg.consumers, frozenConsumer{c, g.consumers[c].Seen})
			fg.number[g.consumers[c]] = i
		}
		fg.pending = slices.Concat(g.pending.blocks...)
		f.groups = append(f.groups, fg)
	}
	return f
}

// AppendTo appends the snapshot to dst.
func (f *Frozen) AppendTo(dst []byte) []byte {
	dst = append(dst, snapshotVersion)
	dst = AppendID(AppendID(dst, ID{}, f.head.lastID), ID{}, f.head.maxDeleted)
	dst = codec.AppendUvarints(dst, f.head.added, uint64(f.n))
	var before ID
	var handle queue.Handle
	for k := range f.blocks {
		b := &f.blocks[k]
		for i := range b.spots {
			dst = binary.AppendUvarint(dst, uint64(b.at(i)-handle))
			dst = AppendID(dst, before, b.id(i))
			before, handle = b.id(i), b.at(i)
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(f.groups)))
	for i := range f.groups {
		dst = f.groups[i].appendTo(dst)
	}
	return dst
}

func (g *frozenGroup) appendTo(dst []byte) []byte {
	dst = AppendID(codec.AppendPrefixed(dst, g.name), ID{}, g.last)
	dst = codec.AppendUvarints(dst, uint64(g.read+1), uint64(len(g.consumers)))
	for _, c := range g.consumers {
		dst = binary.AppendUvarint(codec.AppendPrefixed(dst, c.name), uint64(c.seen))
	}
	dst = binary.AppendUvarint(dst, uint64(len(g.pending)))
	var before ID
	for _, p := range g.pending {
		dst = AppendID(dst, before, p.ID)
		before = p.ID
		dst = codec.AppendUvarints(dst, uint64(g.number[p.Consumer]), uint64(p.Time), p.Count)
	}
	return dst
}

// AppendTo appends the snapshot to dst.
func (s *Stream) AppendTo(dst []byte) []byte { return s.Freeze().AppendTo(dst) }

// Restore replaces the contents with those of a snapshot. On an error, which wraps ErrCorrupt, the
// stream is empty. It does not retain b.
func (s *Stream) Restore(b []byte) error {
	*s = Stream{}
	if len(b) == 0 || b[0] != snapshotVersion {
		return fmt.Errorf("%w: unknown version", ErrCorrupt)
	}
	r := codec.NewReader(b[1:])
	restored := Stream{lastID: ReadID(&r, ID{}), maxDeleted: ReadID(&r, ID{}), added: r.Uvarint()}
	restored.restoreEntries(&r)
	for n := r.Uvarint(); n > 0 && r.Err() == nil; n-- {
		restored.restoreGroup(&r)
	}
	if left := r.Len(); r.End() != nil {
		return fmt.Errorf("%w: %d bytes left", ErrCorrupt, left)
	}
	*s = restored
	return nil
}

func (s *Stream) restoreEntries(r *codec.Reader) {
	var before ID
	var handle queue.Handle
	for n := r.Uvarint(); n > 0 && r.Err() == nil; n-- {
		h := handle + queue.Handle(r.Uvarint())
		id := ReadID(r, before)
		if h <= handle || !before.Before(id) || s.lastID.Before(id) {
			r.Fail(ErrCorrupt)
			return
		}
		s.index.add(id, h)
		before, handle = id, h
	}
}

func (s *Stream) restoreGroup(r *codec.Reader) {
	g := s.SetGroup(r.String(), ReadID(r, ID{}), int64(r.Uvarint())-1)
	var consumers []*Consumer
	for n := r.Uvarint(); n > 0 && r.Err() == nil; n-- {
		consumers = append(consumers, g.Enter(r.String(), int64(r.Uvarint())))
	}
	var before ID
	for n := r.Uvarint(); n > 0 && r.Err() == nil; n-- {
		before = ReadID(r, before)
		who := r.Uvarint()
		at, count := int64(r.Uvarint()), r.Uvarint()
		if r.Err() != nil || who >= uint64(len(consumers)) {
			r.Fail(ErrCorrupt)
			return
		}
		g.Give(consumers[who], before, at, count)
	}
}

// Hash returns a fingerprint of everything except when consumers were seen.
func (s *Stream) Hash() uint64 {
	h := hasher(0x9e3779b97f4a7c15)
	h.id(s.lastID)
	h.id(s.maxDeleted)
	h.mix(s.added)
	s.Ascend(ID{}, func(id ID, at queue.Handle) bool {
		h.id(id)
		h.mix(uint64(at))
		return true
	})
	for _, name := range s.Groups() {
		g := s.groups[name]
		h.text(name)
		h.id(g.Last)
		h.mix(uint64(g.Read))
		for _, c := range slices.Sorted(maps.Keys(g.consumers)) {
			h.text(c)
		}
		g.Ascend(ID{}, func(p *Pending) bool {
			h.id(p.ID)
			h.text(p.Consumer.Name)
			h.mix(uint64(p.Time))
			h.mix(p.Count)
			return true
		})
	}
	return uint64(h)
}

type hasher uint64

func (h *hasher) mix(v uint64) {
	*h = (*h ^ hasher(v)) * 0xff51afd7ed558ccd
	*h ^= *h >> 32
}

func (h *hasher) id(id ID) {
	h.mix(id.Ms)
	h.mix(id.Seq)
}

func (h *hasher) text(s string) {
	h.mix(uint64(len(s)))
	for i := range len(s) {
		h.mix(uint64(s[i]))
	}
}
