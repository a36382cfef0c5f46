package wal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// Kind is the kind of a frame's payload.
type Kind uint8

const (
	KindFacts  Kind = 1 // the facts of an entry, numbered by their order
	KindSparse Kind = 2 // some facts of an entry, each with its number
	KindFooter Kind = 3 // the index of a sealed segment
	KindNoop   Kind = 4 // an entry without facts
	KindRaft   Kind = 5 // the head of an entry of the replicated log
	KindMark   Kind = 6 // no payload, only Synced
)

// Flags of a frame.
type Flags uint16

const (
	// Continued: the next frame belongs to the same atomic group.
	Continued Flags = 1
	// Gap: a repair found that the entries of the shard between the frame before and this one are
	// lost. They count as entries without facts.
	Gap Flags = 2
)

const (
	// FrameHeaderSize is the number of bytes before the payload of a frame.
	FrameHeaderSize = 40
	// MaxPayload bounds the payload of a frame, so that a damaged length cannot make the reader
	// allocate more.
	MaxPayload = 1 << 30

	frameVersion = 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Header is the header of a frame.
type Header struct {
	Kind   Kind
	Flags  Flags
	Shard  uint32
	Index  uint64 // log index of the entry; the segment number in a footer
	Term   uint64 // of the leader that proposed it; always 1 on a single node
	Synced uint32 // bytes of this segment that were durable when the frame was written
	Refs   uint32 // references to bodies of this entry when it was written
	Length uint32 // bytes of payload
}

// Size returns the bytes that the whole frame takes.
func (h *Header) Size() int64 { return FrameHeaderSize + int64(h.Length) }

// AppendHeader appends the header of a frame with this payload, and sets h.Length from the payload.
// salt is that of the segment.
func AppendHeader(dst []byte, salt uint32, h *Header, payload []byte) []byte {
	h.Length = uint32(len(payload))
	at := len(dst)
	dst = append(dst, make([]byte, FrameHeaderSize)...)
	b := dst[at:]
	le := binary.LittleEndian
	le.PutUint32(b[0:], h.Length)
	b[8] = byte(h.Kind)
	b[9] = frameVersion
	le.PutUint16(b[10:], uint16(h.Flags))
	le.PutUint32(b[12:], h.Shard)
	le.PutUint64(b[16:], h.Index)
	le.PutUint64(b[24:], h.Term)
	le.PutUint32(b[32:], h.Synced)
	le.PutUint32(b[36:], h.Refs)
	le.PutUint32(b[4:], frameSum(salt, b, payload))
	return dst
}

// frameSum covers the whole frame except the sum itself. It starts from the segment's salt, so that
// a client cannot publish a body that looks like a frame, and a frame of another file is not
// mistaken for one of this file.
func frameSum(salt uint32, header, payload []byte) uint32 {
	sum := crc32.Update(salt, castagnoli, header[:4])
	sum = crc32.Update(sum, castagnoli, header[8:FrameHeaderSize])
	return crc32.Update(sum, castagnoli, payload)
}

// PeekHeader decodes a header without checking its sum, to skip unwanted frames. b holds at least
// FrameHeaderSize bytes. It returns ErrBadFrame if they cannot be a header.
func PeekHeader(b []byte) (Header, error) {
	le := binary.LittleEndian
	h := Header{
		Length: le.Uint32(b[0:]),
		Kind:   Kind(b[8]),
		Flags:  Flags(le.Uint16(b[10:])),
		Shard:  le.Uint32(b[12:]),
		Index:  le.Uint64(b[16:]),
		Term:   le.Uint64(b[24:]),
		Synced: le.Uint32(b[32:]),
		Refs:   le.Uint32(b[36:]),
	}
	if h.Length > MaxPayload || h.Kind == 0 || b[9] == 0 {
		return Header{}, ErrBadFrame
	}
	return h, nil
}

// DecodeFrame decodes and checks the frame at the start of b. The payload aliases b. Errors:
// ErrBadFrame if b does not start with an intact, complete frame; ErrUnsupportedFormat and
// ErrUnknownKind for an intact frame that this version cannot read.
func DecodeFrame(b []byte, salt uint32) (Header, []byte, error) {
	if len(b) < FrameHeaderSize {
		return Header{}, nil, ErrBadFrame
	}
	h, err := PeekHeader(b)
	if err != nil {
		return Header{}, nil, err
	}
	if int64(len(b)) < h.Size() {
		return Header{}, nil, ErrBadFrame
	}
	payload := b[FrameHeaderSize:h.Size():h.Size()]
	if frameSum(salt, b, payload) != binary.LittleEndian.Uint32(b[4:]) {
		return Header{}, nil, ErrBadFrame
	}
	if b[9] != frameVersion {
		return Header{}, nil, fmt.Errorf("%w: frame version %d", ErrUnsupportedFormat, b[9])
	}
	if h.Kind > KindMark {
		return Header{}, nil, fmt.Errorf("%w: %d", ErrUnknownKind, h.Kind)
	}
	return h, payload, nil
}
