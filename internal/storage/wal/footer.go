package wal

import (
	"encoding/binary"
	"hash/crc32"
	"maps"
	"slices"
	"sort"
)

const (
	// TrailerSize is the number of bytes after the footer frame, at the very end of a sealed
	// segment.
	TrailerSize = 16

	trailerMagic = "5END"

	// pointOwnBytes and pointFileBytes bound how far a lookup has to walk: a point is added when
	// this many bytes of the shard's own frames, or of any frames, follow the last one. The second
	// is larger so that many shards that write little each do not fill memory with points.
	pointOwnBytes  = 32 << 10
	pointFileBytes = 128 << 10

	extentSize = 40 // bytes of an Extent in the footer, without its points
	pointSize  = 8
)

// Point is where the frame of an entry starts.
type Point struct {
	Delta  uint32 // index minus the first index of the extent
	Offset uint32
}

// Extent describes the frames of one shard in a segment.
type Extent struct {
	First, Last uint64 // log indexes; a rewritten segment keeps those it was written with
	Frames      uint64
	Refs        uint64  // references to bodies when they were written
	Points      []Point // ascending; the first one is the first frame

	ownBytes int64 // of this shard's frames since the last point
}

// Index is the sparse index of a segment.
// Invariant: every extent has at least one point, or no frames.
type Index map[uint32]*Extent

// Add records a frame at the given offset. Frames of a shard come with ascending index.
func (x Index) Add(h *Header, offset int64) {
	e := x[h.Shard]
	if e == nil {
		e = &Extent{First: h.Index, Last: h.Index}
		x[h.Shard] = e
	}
	last := int64(-1)
	if n := len(e.Points); n > 0 {
		last = int64(e.Points[n-1].Offset)
	}
	if last < 0 || e.ownBytes >= pointOwnBytes || offset-last >= pointFileBytes {
		e.Points = append(e.Points, Point{Delta: uint32(h.Index - e.First), Offset: uint32(offset)})
		e.ownBytes = 0
	}
	e.ownBytes += h.Size()
	e.Last = max(e.Last, h.Index)
	e.Frames++
	e.Refs += uint64(h.Refs)
}

// Seek returns an offset at or before the frame of the given index; ok is false when the segment
// cannot hold it.
func (e *Extent) Seek(index uint64) (offset int64, ok bool) {
	if index < e.First || index > e.Last {
		return 0, false
	}
	delta := index - e.First
	i := sort.Search(len(e.Points), func(i int) bool { return uint64(e.Points[i].Delta) > delta })
	if i == 0 {
		return 0, false
	}
	return int64(e.Points[i-1].Offset), true
}

// AppendFooter appends the footer frame and the trailer, which seal a segment of end bytes.
func AppendFooter(dst []byte, salt uint32, number uint64, end int64, synced uint32, x Index) []byte {
	le := binary.LittleEndian
	payload := le.AppendUint32(nil, uint32(len(x)))
	for _, shard := range slices.Sorted(maps.Keys(x)) {
		e := x[shard]
		payload = le.AppendUint32(payload, shard)
		payload = le.AppendUint64(payload, e.First)
		payload = le.AppendUint64(payload, e.Last)
		payload = le.AppendUint64(payload, e.Frames)
		payload = le.AppendUint64(payload, e.Refs)
		payload = le.AppendUint32(payload, uint32(len(e.Points)))
		for _, p := range e.Points {
			payload = le.AppendUint32(payload, p.Delta)
			payload = le.AppendUint32(payload, p.Offset)
		}
	}
	h := Header{Kind: KindFooter, Index: number, Term: 1, Synced: synced}
	dst = AppendHeader(dst, salt, &h, payload)
	dst = append(dst, payload...)
	at := len(dst)
	dst = append(dst, trailerMagic...)
	dst = le.AppendUint64(dst, uint64(end))
	return le.AppendUint32(dst, crc32.Update(salt, castagnoli, dst[at:]))
}

// DecodeTrailer returns the offset of the footer frame of a sealed segment from its last
// TrailerSize bytes; ok is false if the segment is not sealed.
func DecodeTrailer(b []byte, salt uint32) (offset int64, ok bool) {
	if len(b) != TrailerSize || string(b[:4]) != trailerMagic {
		return 0, false
	}
	le := binary.LittleEndian
	if le.Uint32(b[12:]) != crc32.Update(salt, castagnoli, b[:12]) {
		return 0, false
	}
	offset = int64(le.Uint64(b[4:]))
	return offset, offset >= SegmentHeaderSize
}

// DecodeFooter decodes the payload of a footer frame.
func DecodeFooter(payload []byte) (Index, error) {
	le := binary.LittleEndian
	if len(payload) < 4 {
		return nil, ErrBadFrame
	}
	n := le.Uint32(payload)
	payload = payload[4:]
	x := Index{}
	for range n {
		if len(payload) < extentSize {
			return nil, ErrBadFrame
		}
		e := &Extent{
			First:  le.Uint64(payload[4:]),
			Last:   le.Uint64(payload[12:]),
			Frames: le.Uint64(payload[20:]),
			Refs:   le.Uint64(payload[28:]),
		}
		x[le.Uint32(payload)] = e
		points := le.Uint32(payload[36:])
		payload = payload[extentSize:]
		if uint64(points) > uint64(len(payload)/pointSize) || e.Last < e.First {
			return nil, ErrBadFrame
		}
		e.Points = make([]Point, points)
		for i := range e.Points {
			e.Points[i] = Point{Delta: le.Uint32(payload), Offset: le.Uint32(payload[4:])}
			payload = payload[pointSize:]
		}
	}
	if len(payload) != 0 {
		return nil, ErrBadFrame
	}
	return x, nil
}

// Cover adds the ranges of y to those of x, whose frames stay as they are. A range covers all
// entries ever written, whose indexes must not be reused.
func (x Index) Cover(y Index) {
	for shard, e := range y {
		own := x[shard]
		if own == nil {
			own = &Extent{First: e.First, Last: e.Last}
			x[shard] = own
		}
		if e.First < own.First && own.Frames > 0 {
			for i := range own.Points {
				own.Points[i].Delta += uint32(own.First - e.First)
			}
		}
		own.First, own.Last = min(own.First, e.First), max(own.Last, e.Last)
	}
}

// Within reports whether y covers all ranges of x. It is false when x has none.
func (x Index) Within(y Index) bool {
	for shard, e := range x {
		if in := y[shard]; in == nil || e.First < in.First || e.Last > in.Last {
			return false
		}
	}
	return len(x) > 0
}
