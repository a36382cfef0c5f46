package codec

import (
	"encoding/binary"
	"errors"
)

var (
	// ErrTruncated means that a field reaches beyond the end of the bytes.
	ErrTruncated = errors.New("truncated")
	// ErrVarint means that a varint does not fit in 64 bits.
	ErrVarint = errors.New("varint overflows 64 bits")
	// ErrTrailing means that bytes are left after the last field.
	ErrTrailing = errors.New("trailing bytes")
)

// Reader reads fields off the front of a byte slice. The first failure sticks: every read after it
// returns zero, so a decoder reads all its fields and checks once. Slices that it returns alias the
// input, with no spare capacity.
type Reader struct {
	rest []byte // Invariant: empty once err is set, so that no read needs to look at err.
	err  error
}

// NewReader returns a Reader of all of b.
func NewReader(b []byte) Reader { return Reader{rest: b} }

// Reset makes r a Reader of all of b. Types that embed a Reader call it, because copying one from
// NewReader would cost more than many decoders do.
func (r *Reader) Reset(b []byte) { r.rest, r.err = b, nil }

// Len returns the number of bytes not read yet, 0 after a failure.
func (r *Reader) Len() int { return len(r.rest) }

// Rest returns the bytes not read yet, without reading them.
func (r *Reader) Rest() []byte { return r.rest }

// Err returns the first failure, or nil.
func (r *Reader) Err() error { return r.err }

// Fail sets the error, unless there was an earlier failure.
func (r *Reader) Fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.rest = nil
}

// End returns the first failure, or ErrTrailing if bytes are left.
func (r *Reader) End() error {
	if len(r.rest) > 0 {
		r.Fail(ErrTrailing)
	}
	return r.err
}

// Bytes reads n bytes.
func (r *Reader) Bytes(n int) []byte {
	if uint(n) > uint(len(r.rest)) {
		r.Fail(ErrTruncated)
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

// Uint8 reads a byte.
func (r *Reader) Uint8() uint8 {
	if len(r.rest) < 1 {
		r.Fail(ErrTruncated)
		return 0
	}
	v := r.rest[0]
	r.rest = r.rest[1:]
	return v
}

// Uint16 reads a big-endian 16-bit integer.
func (r *Reader) Uint16() uint16 {
	if len(r.rest) < 2 {
		r.Fail(ErrTruncated)
		return 0
	}
	v := binary.BigEndian.Uint16(r.rest)
	r.rest = r.rest[2:]
	return v
}

// Uint32 reads a big-endian 32-bit integer.
func (r *Reader) Uint32() uint32 {
	if len(r.rest) < 4 {
		r.Fail(ErrTruncated)
		return 0
	}
	v := binary.BigEndian.Uint32(r.rest)
	r.rest = r.rest[4:]
	return v
}

// Uint64 reads a big-endian 64-bit integer.
func (r *Reader) Uint64() uint64 {
	if len(r.rest) < 8 {
		r.Fail(ErrTruncated)
		return 0
	}
	v := binary.BigEndian.Uint64(r.rest)
	r.rest = r.rest[8:]
	return v
}

// Uint64LE reads a little-endian 64-bit integer.
func (r *Reader) Uint64LE() uint64 {
	if len(r.rest) < 8 {
		r.Fail(ErrTruncated)
		return 0
	}
	v := binary.LittleEndian.Uint64(r.rest)
	r.rest = r.rest[8:]
	return v
}

// Uvarint reads an unsigned varint.
func (r *Reader) Uvarint() uint64 {
	if len(r.rest) > 0 && r.rest[0] < 0x80 { // most numbers are small
		v := r.rest[0]
		r.rest = r.rest[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		if n < 0 {
			r.Fail(ErrVarint)
		}
		r.Fail(ErrTruncated)
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

// Varint reads a signed (zigzag) varint.
func (r *Reader) Varint() int64 {
	v := r.Uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// Count reads the number of elements that follow, each of at least size bytes. It fails if so many
// cannot fit in the rest, so that the caller may allocate for the result.
func (r *Reader) Count(size int) int {
	n := r.Uvarint()
	if n > uint64(len(r.rest)) || n*uint64(size) > uint64(len(r.rest)) {
		r.Fail(ErrTruncated)
		return 0
	}
	return int(n)
}

// Prefixed reads bytes preceded by their length, a varint.
func (r *Reader) Prefixed() []byte {
	n := r.Uvarint()
	if n > uint64(len(r.rest)) {
		r.Fail(ErrTruncated)
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

// String reads a string preceded by its length in bytes, a varint.
func (r *Reader) String() string { return string(r.Prefixed()) }
