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

// value reads a length and a value of that length. The length -1 stands for NULL.
func (r *reader) value(t *Type) Datum {
	n := r.int32()
	if n == -1 {
		return nil
	}
	b := r.Bytes(int(n))
	if r.Reader.Err() != nil {
		return nil
	}
	d, err := ParseBinary(t, b)
	if err != nil {
		r.Fail(err)
	}
	return d
}

// Err returns the first error, with PostgreSQL's text.
func (r *reader) Err() error {
	err := r.Reader.Err()
	if err == codec.ErrTruncated {
		return pgerror.New(pgerror.ProtocolViolation, "insufficient data left in message")
	}
	return err
}

func (r *reader) end(d Datum) (Datum, error) {
	if r.Len() > 0 {
		r.Fail(pgerror.New("22P03", "incorrect binary data format"))
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return d, nil
}

const minElementBytes = 4 // its length

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
	case oid != elem.OID:
		return nil, pgerror.New(pgerror.DatatypeMismatch, "binary data has array element type %d (%s) instead of expected %d (%s)",
			oid, typeName(oid), elem.OID, elem)
	}
	a := &Array{Elem: elem}
	count := int64(1)
	for range dims {
		d := Dim{Len: r.int32(), Lower: r.int32()}
		if d.Len < 0 || int64(d.Lower)+int64(d.Len) > math.MaxInt32 {
			return nil, pgerror.New("22P03", "invalid array length")
		}
		if count *= int64(d.Len); count > int64(len(b)) {
			return nil, pgerror.New(pgerror.ProgramLimitExceeded, "array size exceeds the maximum allowed")
		}
		a.Dims = append(a.Dims, d)
	}
	if dims == 0 || count == 0 {
		a.Dims = nil
		return a, r.Err()
	}
	if count*minElementBytes > int64(r.Len()) {
		r.Fail(codec.ErrTruncated)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	a.Elems = make([]Datum, count)
	for i := range a.Elems {
		a.Elems[i] = r.value(elem)
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
		if oid := r.Uint32(); r.Err() == nil && oid != f.Type.OID {
			return nil, pgerror.New(pgerror.DatatypeMismatch, "binary data has type %d (%s) instead of expected %d (%s) in record column %d",
				oid, typeName(oid), f.Type.OID, f.Type, i+1)
		}
		record[i] = r.value(f.Type)
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
