package message

import "fiveways.dev/fiveways/internal/core/codec"

// Reader reads the primitive types of AMQP 0-9-1 (section 4.2): the integers of a codec.Reader, and
// those below. Slices it returns alias the input.
type Reader struct{ codec.Reader }

// NewReader returns a Reader of all of b.
func NewReader(b []byte) (r Reader) {
	r.Reset(b)
	return r
}

// Err returns the first failure, or nil.
func (r *Reader) Err() error {
	if r.Reader.Err() == nil {
		return nil
	}
	return r.failure()
}

// failure is separate so that Err can be inlined.
func (r *Reader) failure() error {
	if err := r.Reader.Err(); err != codec.ErrTruncated {
		return err
	}
	return ErrTruncated
}

// ShortStr reads a short string: one length octet, then up to 255 bytes.
func (r *Reader) ShortStr() []byte { return r.Bytes(int(r.Uint8())) }

// LongStr reads a long string: a 32-bit length, then the bytes.
func (r *Reader) LongStr() []byte { return r.Bytes(int(r.Uint32())) }

// Table reads a field table preceded by its length.
func (r *Reader) Table() Table {
	raw := r.LongStr()
	if r.Err() != nil {
		return nil
	}
	t, err := DecodeTable(raw)
	if err != nil {
		r.Fail(err)
		return nil
	}
	return t
}
