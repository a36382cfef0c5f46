package queue

import (
	"bytes"
	"encoding/binary"
	"math"
	"sync"

	"fiveways.dev/fiveways/internal/core/codec"
)

// A packed chunk has its messages in order of slot. Each starts with a byte of bits for the fields
// that differ from the prediction based on the previous message; these fields follow in the order
// of the bits. The first message follows a zero Item in slot -1.
//
// For n messages in a row that are as predicted, which would be n zeros, a chunk in memory has
// packSlot, 0, n-1. This is not a message: only the first can be in slot 0, as predicted for it. A
// snapshot has no such runs, so that brokers before them can read it.
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
	run  int // messages as predicted that are not in dst yet
}

var encoders = sync.Pool{New: func() any { return new(encoder) }}

func getEncoder() *encoder {
	e := encoders.Get().(*encoder)
	*e = encoder{dst: e.dst[:0], slot: -1}
	return e
}

// finish returns a copy of what was added and releases the encoder.
func (e *encoder) finish() []byte {
	e.dst = appendRun(e.dst, e.run)
	b := append(make([]byte, 0, len(e.dst)), e.dst...)
	encoders.Put(e)
	return b
}

// appendRun appends n messages as predicted.
func appendRun(dst []byte, n int) []byte {
	if n >= minRun {
		return append(dst, packSlot, 0, byte(n-1))
	}
	return appendZeros(dst, n)
}

// appendZeros appends n messages as predicted, without a run.
func appendZeros(dst []byte, n int) []byte { return append(dst, make([]byte, n)...) }

// minRun is the least number of messages that make a run.
const minRun = 4

// appendWithRuns appends packed messages of a snapshot as a chunk in memory has them. It returns
// false for some, but not all, of what encoder cannot have written.
func appendWithRuns(dst, packed []byte) ([]byte, bool) {
	if !bytes.Contains(packed, make([]byte, minRun)) {
		return append(dst, packed...), true
	}
	return recode(dst, packed, appendRun)
}

// appendWithoutRuns appends the packed messages of a chunk as a snapshot has them.
func appendWithoutRuns(dst, packed []byte) []byte {
	if !bytes.Contains(packed, []byte{packSlot, 0}) {
		return append(dst, packed...)
	}
	dst, _ = recode(dst, packed, appendZeros)
	return dst
}

// recode appends packed messages, those as predicted by calls of run for as many as follow each
// other. Like appendWithRuns it returns false for some of what encoder cannot have written.
func recode(dst, packed []byte, run func(dst []byte, n int) []byte) ([]byte, bool) {
	d := newDecoder(packed)
	for at := 0; d.read(); at = len(packed) - d.Len() {
		if d.run > 0 {
			dst = run(dst, d.run)
			d.slot, d.run = d.slot+d.run, 0
		} else {
			dst = append(dst, packed[at:len(packed)-d.Len()]...)
		}
	}
	return dst, d.Err() == nil
}

func (e *encoder) add(slot int, it *Item) {
	flags := it.Flags &^ Redelivered
	if slot == e.slot+1 && it.Index == e.prev.Index && it.Sub == e.prev.Sub+1 && it.Size == e.prev.Size &&
		flags == e.prev.Flags && it.Expires == e.prev.Expires && it.Due == e.prev.Due && it.Count == e.prev.Count {
		e.run++
		e.slot, e.prev.Sub = slot, it.Sub
		return
	}
	e.dst = appendRun(e.dst, e.run)
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
	e.slot, e.prev, e.run = slot, *it, 0
	e.prev.Flags, e.prev.Env = flags, nil
}

// decoder decodes what encoder wrote. It never fails on a chunk's own bytes, but may fail on bytes
// from disk.
type decoder struct {
	codec.Reader
	slot int
	run  int  // messages as predicted that follow
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
	if d.run == 0 && !d.read() {
		return false
	}
	if d.run > 0 {
		d.run--
		d.slot++
		d.it.Sub++
	}
	return true
}

// read reads a message, or run > 0 of them. It returns false as next does.
func (d *decoder) read() bool {
	if d.Len() == 0 {
		return false
	}
	head := d.Uint8()
	slot := d.slot + 1
	switch {
	case head == 0:
		d.run = 1
		for b := d.Rest(); d.run <= len(b) && b[d.run-1] == 0; {
			d.run++
		}
		d.Bytes(d.run - 1)
		return d.runFits()
	case head&packSlot != 0:
		if slot = int(d.Uint8()); slot == 0 && head == packSlot {
			d.run = int(d.Uint8()) + 1
			return d.runFits()
		}
	}
	d.it.Sub++
	if head&packIndex != 0 {
		d.it.Index += uint64(d.Varint())
		d.it.Sub = 0
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

func (d *decoder) runFits() bool {
	if d.slot+d.run >= chunkLen {
		d.Fail(ErrCorrupt)
	}
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
