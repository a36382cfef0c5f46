package value

import (
	"encoding/binary"
	"math"
)

// RecodeBinary returns the binary form b of a value of type t with convert done to the texts in it.
// What is not a binary form of t stays as it is: reading it finds that.
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

// recoder copies a binary form that is made of others.
type recoder struct {
	rest, made []byte
	convert    func([]byte) ([]byte, error)
	short      bool // rest ends in the middle of something
	err        error
}

// number copies a number of four bytes.
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

// value copies a length and a value of that length; the length is then what the value has become.
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

// record copies the fields of a row. Only in rows without a type do their own words count for what
// is in them: those come from the server.
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
