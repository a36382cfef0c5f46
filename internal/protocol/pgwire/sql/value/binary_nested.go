package value

import (
	"encoding/binary"
	"math"

	"fiveways.dev/fiveways/internal/core/codec"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// reader reads the components of a binary format.
type reader struct{ codec.Reader }

func newReader(b []byte) *reader { return &reader{codec.NewReader(b)} }

func (r *reader) int32() int32 { return int32(r.Uint32()) }

// value reads a length and a value of that length. The length -1 stands for NULL. place says in
// errors where the value is.
func (r *reader) value(t *Type, place string, number int) Datum {
	n := r.int32()
	switch {
	case n == -1 || r.Reader.Err() != nil:
		return nil
	case n < 0 || int(n) > r.Len():
		r.Fail(pgerror.New("22P03", "insufficient data left in message"))
		return nil
	}
	d, err := ParseBinary(t, r.Bytes(int(n)))
	if IsTrailing(err) {
		err = pgerror.New("22P03", "improper binary format in %s %d", place, number)
	}
	if err != nil {
		r.Fail(err)
	}
	return d
}

// Err returns the first error, with PostgreSQL's text.
func (r *reader) Err() error {
	err := r.Reader.Err()
	if err == codec.ErrTruncated {
		return errShort()
	}
	return err
}

func (r *reader) end(d Datum) (Datum, error) {
	if r.Len() > 0 {
		r.Fail(errTrailing())
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return d, nil
}

const (
	minElementBytes = 4         // its length
	maxElements     = 134217727 // of an array, as in PostgreSQL
)

// The OIDs from here on are not the same in all servers: those of extensions, for example.
const firstUnstableOID = 10000

// otherType reports whether a value with the type oid is certainly not one of t. Values that other
// servers wrote may have other OIDs of the same type.
func otherType(t *Type, oid uint32) bool {
	return oid != t.OID && oid < firstUnstableOID && t.OID < firstUnstableOID
}

// parseBinaryArray parses: number of dimensions, whether there are NULLs, OID of the element type,
// length and lower bound of each dimension, the elements.
func parseBinaryArray(elem *Type, b []byte) (Datum, error) {
	r := newReader(b)
	dims, flags, oid := r.int32(), r.int32(), r.Uint32()
	switch err := r.Err(); {
	case err != nil:
		return nil, err
	case dims < 0:
		return nil, pgerror.New("22P03", "invalid number of dimensions: %d", dims)
	case dims > MaxDims:
		return nil, TooManyDims(int(dims))
	case flags != 0 && flags != 1:
		return nil, pgerror.New("22P03", "invalid array flags")
	case otherType(elem, oid):
		return nil, pgerror.New(pgerror.DatatypeMismatch, "binary data has array element type %d (%s) instead of expected %d (%s)",
			oid, typeName(oid), elem.OID, elem)
	}
	a := &Array{Elem: elem}
	count := int64(1)
	for range dims {
		d := Dim{Len: r.int32(), Lower: r.int32()}
		if err := r.Err(); err != nil {
			return nil, err
		}
		if count *= int64(d.Len); d.Len < 0 || count > maxElements {
			return nil, pgerror.New(pgerror.ProgramLimitExceeded, "array size exceeds the maximum allowed (%d)", maxElements)
		}
		a.Dims = append(a.Dims, d)
	}
	for _, d := range a.Dims {
		if int64(d.Lower)+int64(d.Len) > math.MaxInt32 {
			return nil, pgerror.New(pgerror.ProgramLimitExceeded, "array lower bound is too large: %d", d.Lower)
		}
	}
	if dims == 0 || count == 0 {
		a.Dims = nil
		return r.end(a)
	}
	a.Elems = make([]Datum, 0, min(int(count), r.Len()/minElementBytes))
	for i := range int(count) {
		d := r.value(elem, "array element", i+1)
		if err := r.Err(); err != nil {
			return nil, err
		}
		a.Elems = append(a.Elems, d)
	}
	return r.end(a)
}

func typeName(oid uint32) string {
	if t := ByOID(oid); t != nil {
		return t.String()
	}
	return "???"
}

// parseBinaryRecord parses: number of fields; for each, the OID of its type and its value.
func parseBinaryRecord(t *Type, b []byte) (Datum, error) {
	if t.OID == oidRecord && t.Fields == nil {
		return nil, pgerror.New(pgerror.FeatureNotSupported, "input of anonymous composite types is not implemented")
	}
	r := newReader(b)
	if n := r.int32(); r.Err() == nil && int(n) != len(t.Fields) {
		return nil, pgerror.New(pgerror.DatatypeMismatch, "wrong number of columns: %d, expected %d", n, len(t.Fields))
	}
	record := make(Record, len(t.Fields))
	for i, f := range t.Fields {
		if oid := r.Uint32(); r.Err() == nil && otherType(f.Type, oid) {
			return nil, pgerror.New(pgerror.DatatypeMismatch, "binary data has type %d (%s) instead of expected %d (%s) in record column %d",
				oid, typeName(oid), f.Type.OID, f.Type, i+1)
		}
		record[i] = r.value(f.Type, "record column", i+1)
	}
	return r.end(record)
}

func appendBinaryValue(dst []byte, t *Type, d Datum) ([]byte, error) {
	if d == nil {
		return binary.BigEndian.AppendUint32(dst, math.MaxUint32), nil
	}
	start := len(dst)
	dst, err := AppendBinary(append(dst, 0, 0, 0, 0), t, d)
	if err != nil {
		return dst, err
	}
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst, nil
}

func appendBinaryArray(dst []byte, a *Array) (_ []byte, err error) {
	nulls := uint32(0)
	for _, d := range a.Elems {
		if d == nil {
			nulls = 1
		}
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(a.Dims)))
	dst = binary.BigEndian.AppendUint32(dst, nulls)
	dst = binary.BigEndian.AppendUint32(dst, a.Elem.OID)
	for _, d := range a.Dims {
		dst = binary.BigEndian.AppendUint32(dst, uint32(d.Len))
		dst = binary.BigEndian.AppendUint32(dst, uint32(d.Lower))
	}
	for _, d := range a.Elems {
		if dst, err = appendBinaryValue(dst, a.Elem, d); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

func appendBinaryRecord(dst []byte, t *Type, r Record) (_ []byte, err error) {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(r)))
	for i, d := range r {
		field := fieldType(t, i, d)
		dst = binary.BigEndian.AppendUint32(dst, field.OID)
		if dst, err = appendBinaryValue(dst, field, d); err != nil {
			return dst, err
		}
	}
	return dst, nil
}
