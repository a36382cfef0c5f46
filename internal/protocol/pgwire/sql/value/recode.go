package value

import (
	"encoding/binary"
	"math"
)

// RecodeBinary applies convert to the texts in the binary format b of a value of type t. If b is
// malformed, the malformed part is returned unchanged, and parsing it reports the error.
func RecodeBinary(t *Type, b []byte, convert func([]byte) ([]byte, error)) ([]byte, error) {
	switch t {
	case Text, Varchar, BPChar, Name, Unknown, JSON, XML, CString, Refcursor, NodeTree:
		return convert(b)
	case JSONB:
		if len(b) == 0 {
			return b, nil
		}
		text, err := convert(b[1:])
		return append([]byte{b[0]}, text...), err
	}
	w := recoder{rest: b, convert: convert}
	switch {
	case t.IsEnum():
		return convert(b)
	case t == Hstore:
		w.pairs()
	case t == Int2Vector || t == OIDVector:
		return b, nil
	case t.IsArray():
		w.array(t.Elem)
	case t.IsRow():
		w.record(t.Fields)
	default:
		return b, nil
	}
	if w.err != nil || w.short {
		return b, w.err
	}
	return append(w.made, w.rest...), nil
}

// recoder copies a nested binary format.
type recoder struct {
	rest, made []byte
	convert    func([]byte) ([]byte, error)
	short      bool // rest is truncated
	err        error
}

// number copies a four-byte number.
func (r *recoder) number() uint32 {
	const size = 4
	if r.short || r.err != nil || len(r.rest) < size {
		r.short = true
		return 0
	}
	n := binary.BigEndian.Uint32(r.rest)
	r.made, r.rest = append(r.made, r.rest[:size]...), r.rest[size:]
	return n
}

// value copies a length and a value of that length, and updates the length after the conversion.
func (r *recoder) value(t *Type) {
	n := r.number()
	if r.short || r.err != nil || n == math.MaxUint32 {
		return
	}
	if int64(n) > int64(len(r.rest)) {
		r.short = true
		return
	}
	b := r.rest[:n]
	if t != nil {
		if b, r.err = RecodeBinary(t, b, r.convert); r.err != nil {
			return
		}
	}
	binary.BigEndian.PutUint32(r.made[len(r.made)-4:], uint32(len(b)))
	r.made, r.rest = append(r.made, b...), r.rest[n:]
}

func (r *recoder) pairs() {
	for n := r.number(); n > 0 && !r.short && r.err == nil; n-- {
		r.value(Text)
		r.value(Text)
	}
}

func (r *recoder) array(elem *Type) {
	dims := r.number()
	r.number() // whether there are NULLs
	r.number() // the elements' type
	count := int64(1)
	for ; dims > 0 && !r.short; dims-- {
		count *= int64(r.number())
		r.number() // the lower bound
		if count > int64(len(r.rest)) {
			r.short = true
		}
	}
	for len(r.rest) > 0 && count > 0 && !r.short && r.err == nil {
		r.value(elem)
		count--
	}
}

// record copies the fields of a row. The field types in the data are used only for rows of unknown
// type, which come from the server.
func (r *recoder) record(fields []Field) {
	n := r.number()
	for i := 0; uint32(i) < n && !r.short && r.err == nil; i++ {
		t := ByOID(r.number())
		if i < len(fields) {
			t = fields[i].Type
		}
		r.value(t)
	}
}
