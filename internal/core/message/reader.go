package message

import "encoding/binary"

// Reader reads the primitive types of AMQP 0-9-1 (section 4.2) from a byte slice. The first failure sticks: every read after it returns zero
// and Err tells what happened, so a decoder reads all its fields and checks once. Slices it returns alias the input.
type Reader struct {
	rest []byte // Invariant: nil once err is set, so that nothing more can be read.
	err  error
}

// NewReader returns a Reader of all of b.
func NewReader(b []byte) Reader { return Reader{rest: b} }

// Len is the number of bytes not read yet, 0 after a failure.
func (r *Reader) Len() int { return len(r.rest) }

// Err is the first failure, nil if there was none.
func (r *Reader) Err() error { return r.err }

// Fail makes err the outcome unless an earlier failure stands.
func (r *Reader) Fail(err error) {
	if r.err == nil {
		r.err = err
	}
	r.rest = nil
}

// Bytes returns the next n bytes.
func (r *Reader) Bytes(n int) []byte {
	if uint(n) > uint(len(r.rest)) {
		r.Fail(ErrTruncated)
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

// Uint8 returns the next octet.
func (r *Reader) Uint8() uint8 {
	if len(r.rest) < 1 {
		r.Fail(ErrTruncated)
		return 0
	}
	v := r.rest[0]
	r.rest = r.rest[1:]
	return v
}

// Uint16 returns the next big-endian 16-bit integer.
func (r *Reader) Uint16() uint16 {
	if len(r.rest) < 2 {
		r.Fail(ErrTruncated)
		return 0
	}
	v := binary.BigEndian.Uint16(r.rest)
	r.rest = r.rest[2:]
	return v
}

// Uint32 returns the next big-endian 32-bit integer.
func (r *Reader) Uint32() uint32 {
	if len(r.rest) < 4 {
		r.Fail(ErrTruncated)
		return 0
	}
	v := binary.BigEndian.Uint32(r.rest)
	r.rest = r.rest[4:]
	return v
}

// Uint64 returns the next big-endian 64-bit integer.
func (r *Reader) Uint64() uint64 {
	if len(r.rest) < 8 {
		r.Fail(ErrTruncated)
		return 0
	}
	v := binary.BigEndian.Uint64(r.rest)
	r.rest = r.rest[8:]
	return v
}

// ShortStr returns the bytes of a short string: one length octet, then up to 255 bytes.
func (r *Reader) ShortStr() []byte { return r.Bytes(int(r.Uint8())) }

// LongStr returns the bytes of a long string: a 32-bit length, then the bytes.
func (r *Reader) LongStr() []byte {
	n := r.Uint32()
	if uint64(n) > uint64(len(r.rest)) {
		r.Fail(ErrTruncated)
		return nil
	}
	return r.Bytes(int(n))
}

// Table returns a decoded field table with its length in front.
func (r *Reader) Table() Table {
	raw := r.LongStr()
	if r.err != nil {
		return nil
	}
	t, err := DecodeTable(raw)
	if err != nil {
		r.Fail(err)
		return nil
	}
	return t
}
