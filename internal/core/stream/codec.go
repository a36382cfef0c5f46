package stream

import "encoding/binary"

// AppendID appends an id as it stands in a row behind another one that is not greater; the first of a row stands behind 0-0.
func AppendID(dst []byte, before, id ID) []byte {
	dst = binary.AppendUvarint(dst, id.Ms-before.Ms)
	if id.Ms == before.Ms {
		return binary.AppendUvarint(dst, id.Seq-before.Seq)
	}
	return binary.AppendUvarint(dst, id.Seq)
}

// AppendName appends a name with its length in front.
func AppendName(dst []byte, name string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(name))), name...)
}

// Reader reads what the functions above wrote; the first failure sticks, and every read after it returns zero.
type Reader struct {
	b   []byte
	bad bool
}

// NewReader reads off b.
func NewReader(b []byte) Reader { return Reader{b: b} }

// Ended tells whether all was read and nothing was wrong.
func (r *Reader) Ended() bool { return !r.bad && len(r.b) == 0 }

// Failed tells whether something was wrong.
func (r *Reader) Failed() bool { return r.bad }

// Uint reads an unsigned varint.
func (r *Reader) Uint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.bad, r.b = true, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

// ID reads an id that stands behind another one.
func (r *Reader) ID(before ID) ID {
	id := ID{before.Ms + r.Uint(), r.Uint()}
	if id.Ms == before.Ms {
		id.Seq += before.Seq
	}
	return id
}

// Name reads a name.
func (r *Reader) Name() string {
	n := r.Uint()
	if n > uint64(len(r.b)) {
		r.bad, r.b = true, nil
		return ""
	}
	name := string(r.b[:n])
	r.b = r.b[n:]
	return name
}
