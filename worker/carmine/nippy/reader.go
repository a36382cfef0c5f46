package nippy

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"strings"
)

const (
	maxBytes  = 32 << 20
	maxValues = 4 << 20
	maxDepth  = 512
	// maxBigBytes bounds big integers: converting one to text takes more than linear time.
	maxBigBytes = 4096
)

// reader reads one element. It keeps the first failure; reads after it return zero values.
type reader struct {
	rest   []byte
	err    error
	values int
	depth  int
	cache  map[int]any
}

func (r *reader) fail(kind error, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("nippy: %w: %s", kind, fmt.Sprintf(format, args...))
	}
}

// take returns the next n bytes, which alias the input.
func (r *reader) take(n int) []byte {
	if r.err == nil && (n < 0 || n > len(r.rest)) {
		r.fail(ErrMalformed, "%d bytes are wanted where %d are left", n, len(r.rest))
	}
	if r.err != nil {
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// signed reads a signed number of size bytes.
func (r *reader) signed(size int) int64 {
	b := r.take(size)
	if b == nil {
		return 0
	}
	switch size {
	case 1:
		return int64(int8(b[0]))
	case 2:
		return int64(int16(binary.BigEndian.Uint16(b)))
	case 4:
		return int64(int32(binary.BigEndian.Uint32(b)))
	}
	return int64(binary.BigEndian.Uint64(b))
}

// offset reads a number of size bytes in which the smallest value means 0.
func (r *reader) offset(size int) int64 { return r.signed(size) + 1<<(8*size-1) }

// count checks an element count, with at least each bytes per element.
func (r *reader) count(n, each int64) int {
	if r.err == nil && (n < 0 || n > int64(len(r.rest))/each) {
		r.fail(ErrMalformed, "%d elements are announced where %d bytes are left", n, len(r.rest))
	}
	if r.err != nil {
		return 0
	}
	return int(n)
}

func (r *reader) text(n int64) string { return strings.ToValidUTF8(string(r.bytes(n)), "\uFFFD") }

// bytes returns a copy of the next n bytes.
func (r *reader) bytes(n int64) []byte {
	if n < 0 || n > int64(len(r.rest)) {
		r.take(-1)
		return nil
	}
	return append([]byte{}, r.take(int(n))...)
}

// bigInt reads a number in the format of Java's BigInteger: two's complement.
func (r *reader) bigInt() *big.Int {
	size := r.signed(4)
	if size > maxBigBytes {
		r.fail(ErrMalformed, "a number of %d bytes", size)
	}
	b := r.take(int(size))
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0] >= 0x80 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n
}

// length reads a length of size bytes; if size is negative, it is counted from the smallest value.
func (r *reader) length(size int) int64 {
	if size < 0 {
		return r.offset(-size)
	}
	return r.signed(size)
}
