package wal

import (
	"encoding/binary"
	"math"

	"fiveways.dev/fiveways/internal/core/codec"
)

// Facts iterates over the facts of a frame. The zero value is at the end.
type Facts struct {
	r      codec.Reader
	sub    uint32
	sparse bool
}

// NewFacts returns the facts in the payload of a frame of kind facts or sparse; other kinds have
// none.
func NewFacts(kind Kind, payload []byte) (f Facts) {
	if kind == KindFacts || kind == KindSparse {
		f.r.Reset(payload)
		f.sparse = kind == KindSparse
	}
	return f
}

// Next returns the next fact (type byte and payload, aliasing the frame) and its number. ok is
// false at the end, and also where the payload is malformed: then Err returns an error.
func (f *Facts) Next() (sub uint32, fact []byte, ok bool) {
	if f.r.Len() == 0 {
		return 0, nil, false
	}
	if f.sparse {
		gap := f.r.Uvarint()
		if gap > math.MaxUint32-uint64(f.sub) {
			f.r.Fail(ErrBadFrame)
		}
		f.sub += uint32(gap)
	}
	if fact = f.r.Prefixed(); len(fact) == 0 {
		f.r.Fail(ErrBadFrame)
		return 0, nil, false
	}
	sub = f.sub
	f.sub++
	return sub, fact, true
}

// Err returns ErrBadFrame if Next stopped before the end of the payload.
func (f *Facts) Err() error {
	if f.r.Err() != nil {
		return ErrBadFrame
	}
	return nil
}

// AppendSparse appends one fact of a sparse frame. gap is its number minus that of the previous
// fact minus one: 0 if it follows directly; for the first fact, gap is its number.
func AppendSparse(dst []byte, gap uint32, fact []byte) []byte {
	return codec.AppendPrefixed(binary.AppendUvarint(dst, uint64(gap)), fact)
}
