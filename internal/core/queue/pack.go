package queue

import (
	"encoding/binary"
	"math"
	"sync"

	"fiveways.dev/fiveways/internal/core/codec"
)

// A packed chunk has its messages in order of slot. Each starts with a byte of bits for the fields
// that differ from the prediction based on the previous message; these fields follow in the order
// of the bits. The first message follows a zero Item in slot -1.
const (
	packSlot    = 1 << iota // u8; predicted: the next one
	packIndex               // zigzag difference; predicted: the same
	packSub                 // uvarint; predicted: one more within the same Index, 0 in a new one
	packSize                // uvarint; predicted: the same; also for all that follow
	packFlags               // u8, without Redelivered, which the chunk stores in a bitmap
	packExpires             // zigzag difference
	packDue                 // zigzag difference
	packCount               // uvarint
)

// encoder appends items to dst.
type encoder struct {
	dst  []byte
	slot int
	prev Item
}

var encoders = sync.Pool{New: func() any { return new(encoder) }}

func getEncoder() *encoder {
	e := encoders.Get().(*encoder)
	*e = encoder{dst: e.dst[:0], slot: -1}
	return e
}

// finish returns a copy of what was added and releases the encoder.
func (e *encoder) finish() []byte {
	b := append(make([]byte, 0, len(e.dst)), e.dst...)
	encoders.Put(e)
	return b
}

func (e *encoder) add(slot int, it *Item) {
	at := len(e.dst)
	e.dst = append(e.dst, 0)
	var head byte
	if slot != e.slot+1 {
		head |= packSlot
		e.dst = append(e.dst, byte(slot))
	}
	sub := e.prev.Sub + 1
	if it.Index != e.prev.Index {
		head |= packIndex
		e.dst = binary.AppendVarint(e.dst, int64(it.Index-e.prev.Index))
		sub = 0
	}
	if it.Sub != sub {
		head |= packSub
		e.dst = binary.AppendUvarint(e.dst, uint64(it.Sub))
	}
	if it.Size != e.prev.Size {
		head |= packSize
		e.dst = binary.AppendUvarint(e.dst, uint64(it.Size))
	}
	flags := it.Flags &^ Redelivered
	if flags != e.prev.Flags {
		head |= packFlags
		e.dst = append(e.dst, byte(flags))
	}
	if it.Expires != e.prev.Expires {
		head |= packExpires
		e.dst = binary.AppendVarint(e.dst, it.Expires-e.prev.Expires)
	}
	if it.Due != e.prev.Due {
		head |= packDue
		e.dst = binary.AppendVarint(e.dst, it.Due-e.prev.Due)
	}
	if it.Count != e.prev.Count {
		head |= packCount
		e.dst = binary.AppendUvarint(e.dst, uint64(it.Count))
	}
	e.dst[at] = head
	e.slot, e.prev = slot, *it
	e.prev.Flags, e.prev.Env = flags, nil
}

// decoder decodes what encoder wrote. It never fails on a chunk's own bytes, but may fail on bytes
// from disk.
type decoder struct {
	codec.Reader
	slot int
	it   Item // without Handle, Env and Redelivered
}

func newDecoder(b []byte) (d decoder) {
	d.Reset(b)
	d.slot = -1
	return d
}

// next moves to the next message. It returns false at the end, and at bytes that encoder cannot
// have written.
func (d *decoder) next() bool {
	if d.Len() == 0 {
		return false
	}
	head := d.Uint8()
	slot := d.slot + 1
	d.it.Sub++
	if head&^packSub != 0 { // for most messages of a batch no field differs
		if head&packSlot != 0 {
			slot = int(d.Uint8())
		}
		if head&packIndex != 0 {
			d.it.Index += uint64(d.Varint())
			d.it.Sub = 0
		}
	}
	if head&packSub != 0 {
		d.it.Sub = d.uint32()
	}
	if head >= packSize {
		d.rest(head)
	}
	if slot <= d.slot || slot >= chunkLen {
		d.Fail(ErrCorrupt)
	}
	d.slot = slot
	return d.Err() == nil
}

func (d *decoder) rest(head byte) {
	if head&packSize != 0 {
		d.it.Size = d.uint32()
	}
	if head&packFlags != 0 {
		d.it.Flags = Flags(d.Uint8())
	}
	if head&packExpires != 0 {
		d.it.Expires += d.Varint()
	}
	if head&packDue != 0 {
		d.it.Due += d.Varint()
	}
	if head&packCount != 0 {
		d.it.Count = d.uint32()
	}
}

func (d *decoder) uint32() uint32 {
	v := d.Uvarint()
	if v > math.MaxUint32 {
		d.Fail(ErrCorrupt)
		return 0
	}
	return uint32(v)
}

// pack packs a hot chunk. None of its live items may have an Env.
func (s *Deliveries) pack(c *chunk) {
	e := getEncoder()
	live := c.liveMap()
	for slot := live.from(0); slot < chunkLen; slot = live.from(slot + 1) {
		e.add(slot, c.hotItem(slot))
	}
	items := c.items
	s.setItems(c, nil)
	putItems(items)
	c.packed, c.encoded = e.finish(), c.live
}

// unpack makes a packed chunk hot, with nil Envs.
func (s *Deliveries) unpack(c *chunk) {
	live := c.liveMap()
	first, end := live.from(0), live.last()+1
	items := getItems(end - first)[:end-first]
	for d := newDecoder(c.packed); d.next(); {
		if live.has(d.slot) {
			items[d.slot-first] = c.finish(&d)
		}
	}
	c.off, c.packed, c.encoded = uint16(first), nil, 0
	s.setItems(c, items)
}

// shrink encodes a packed chunk again if three quarters of its messages are gone, so that a few
// stragglers do not hold the bytes of all. The old bytes are not changed, because they may be
// shared.
func (s *Deliveries) shrink(c *chunk) {
	if c.packed == nil || c.encoded < 8 || c.live > c.encoded/4 {
		return
	}
	e := getEncoder()
	live := c.liveMap()
	for d := newDecoder(c.packed); d.next(); {
		if live.has(d.slot) {
			e.add(d.slot, &d.it)
		}
	}
	c.packed, c.encoded = e.finish(), c.live
}
