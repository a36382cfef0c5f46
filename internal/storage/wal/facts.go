package wal

import "encoding/binary"

// Facts walks over the facts of a frame. The zero value is at the end.
type Facts struct {
	rest   []byte
	sub    uint32
	sparse bool
}

// NewFacts returns the facts in the payload of a frame of kind facts or sparse; other kinds have none.
func NewFacts(kind Kind, payload []byte) Facts {
	if kind != KindFacts && kind != KindSparse {
		return Facts{}
	}
	return Facts{rest: payload, sparse: kind == KindSparse}
}

// Next returns the next fact (type byte and payload, aliasing the frame) and its number; ok is false at the end and
// where the payload is malformed, which Err tells apart.
func (f *Facts) Next() (sub uint32, fact []byte, ok bool) {
	if len(f.rest) == 0 {
		return 0, nil, false
	}
	b := f.rest
	if f.sparse {
		gap, n := binary.Uvarint(b)
		if n <= 0 || gap > 1<<32-1-uint64(f.sub) {
			return 0, nil, false
		}
		f.sub += uint32(gap)
		b = b[n:]
	}
	size, n := binary.Uvarint(b)
	if n <= 0 || size == 0 || size > uint64(len(b)-n) {
		return 0, nil, false
	}
	end := n + int(size)
	f.rest = b[end:]
	sub = f.sub
	f.sub++
	return sub, b[n:end:end], true
}

// Err returns ErrBadFrame when Next stopped before the end of the payload.
func (f *Facts) Err() error {
	if len(f.rest) != 0 {
		return ErrBadFrame
	}
	return nil
}

// AppendSparse appends one fact of a sparse frame. gap is its number less the number of the fact before it plus one:
// 0 when it follows directly, and the number itself for the first fact.
func AppendSparse(dst []byte, gap uint32, fact []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(gap))
	dst = binary.AppendUvarint(dst, uint64(len(fact)))
	return append(dst, fact...)
}
