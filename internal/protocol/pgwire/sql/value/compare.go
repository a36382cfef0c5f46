package value

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"strings"

	"fiveways.dev/fiveways/internal/core/hstore"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/numeric"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/temporal"
)

// Compare compares two values of one type, neither nil, like the type's btree operators. Text is
// compared by bytes. Types without an order (json, xml) result in an error.
func Compare(t *Type, a, b Datum) (int, error) {
	switch t {
	case JSON, XML, ACLItem, Refcursor, TID:
		return 0, pgerror.New(pgerror.UndefinedFunction, "could not identify a comparison function for type %s", t)
	}
	switch a := a.(type) {
	case bool:
		return cmp.Compare(order(a), order(b.(bool))), nil
	case int64:
		return cmp.Compare(a, b.(int64)), nil
	case float64:
		return compareFloats(a, b.(float64)), nil
	case string:
		return compareStrings(t, a, b.(string))
	case []byte:
		return bytes.Compare(a, b.([]byte)), nil
	case numeric.Number:
		return min(max(a.Cmp(b.(numeric.Number)), -1), 1), nil
	case hstore.Map:
		return hstore.Compare(a, b.(hstore.Map)), nil
	case temporal.Date:
		return cmp.Compare(a, b.(temporal.Date)), nil
	case temporal.Time:
		return cmp.Compare(a, b.(temporal.Time)), nil
	case temporal.Timestamp:
		return cmp.Compare(a, b.(temporal.Timestamp)), nil
	case temporal.TimestampTZ:
		return cmp.Compare(a, b.(temporal.TimestampTZ)), nil
	case temporal.Interval:
		return a.Compare(b.(temporal.Interval)), nil
	case *Array:
		return compareArrays(a, b.(*Array))
	case Record:
		return compareRecords(t, a, b.(Record))
	}
	return 0, unsupported(t)
}

func order(b bool) int {
	if b {
		return 1
	}
	return 0
}

// compareFloats orders NaN after all numbers and equal to itself.
func compareFloats(a, b float64) int {
	switch {
	case math.IsNaN(a) || math.IsNaN(b):
		return order(math.IsNaN(a)) - order(math.IsNaN(b))
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func compareStrings(t *Type, a, b string) (int, error) {
	switch {
	case t == BPChar:
		return strings.Compare(strings.TrimRight(a, " "), strings.TrimRight(b, " ")), nil
	case t == JSONB:
		return compareJSON(a, b)
	case t.IsEnum():
		return compareLabels(t, a, b), nil
	}
	return strings.Compare(a, b), nil
}

// compareArrays compares the elements, then their number, then the dimensions.
func compareArrays(a, b *Array) (int, error) {
	for i := range min(len(a.Elems), len(b.Elems)) {
		if c, err := compareNullable(a.Elem, a.Elems[i], b.Elems[i]); c != 0 || err != nil {
			return c, err
		}
	}
	if c := cmp.Or(cmp.Compare(len(a.Elems), len(b.Elems)), cmp.Compare(len(a.Dims), len(b.Dims))); c != 0 {
		return c, nil
	}
	for i := range a.Dims {
		if c := cmp.Compare(a.Dims[i].Len, b.Dims[i].Len); c != 0 {
			return c, nil
		}
	}
	for i := range a.Dims {
		if c := cmp.Compare(a.Dims[i].Lower, b.Dims[i].Lower); c != 0 {
			return c, nil
		}
	}
	return 0, nil
}

// compareNullable compares elements of arrays and rows: NULL is the greatest, and equal to itself.
func compareNullable(t *Type, a, b Datum) (int, error) {
	if a == nil || b == nil {
		return order(a == nil) - order(b == nil), nil
	}
	return Compare(t, a, b)
}

func compareRecords(t *Type, a, b Record) (int, error) {
	if len(a) != len(b) {
		return 0, pgerror.New(pgerror.DatatypeMismatch, "cannot compare record types with different numbers of columns")
	}
	for i := range a {
		field := fieldType(t, i, a[i])
		if i >= len(t.Fields) && a[i] != nil && b[i] != nil && field != fieldType(t, i, b[i]) {
			return 0, pgerror.New(pgerror.DatatypeMismatch, "cannot compare dissimilar column types %s and %s at record column %d",
				field, fieldType(t, i, b[i]), i+1)
		}
		if c, err := compareNullable(field, a[i], b[i]); c != 0 || err != nil {
			return c, err
		}
	}
	return 0, nil
}

// Equal reports whether two values of one type, neither nil, are equal.
func Equal(t *Type, a, b Datum) (bool, error) {
	c, err := Compare(t, a, b)
	return c == 0, err
}

// AppendKey appends a key that is equal for two values exactly if the values are equal, for
// DISTINCT, GROUP BY and hash joins. nil has a key of its own. Keys can be concatenated.
func AppendKey(dst []byte, t *Type, d Datum) []byte {
	if d == nil {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	switch d := d.(type) {
	case bool:
		return append(dst, byte(order(d)))
	case int64:
		return binary.BigEndian.AppendUint64(dst, uint64(d))
	case float64:
		return binary.BigEndian.AppendUint64(dst, math.Float64bits(plainFloat(d)))
	case string:
		if t == BPChar {
			d = strings.TrimRight(d, " ")
		}
		if t == JSONB {
			d = jsonKey(d)
		}
		return appendStringKey(dst, d)
	case []byte:
		return appendStringKey(dst, string(d))
	case numeric.Number:
		return appendStringKey(dst, d.TrimScale().String())
	case hstore.Map:
		return d.AppendBinary(dst)
	case temporal.Interval:
		days, micros := d.Span()
		return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, uint64(days)), uint64(micros))
	case *Array:
		dst = binary.BigEndian.AppendUint32(dst, uint32(len(d.Dims)))
		for _, dim := range d.Dims {
			dst = binary.BigEndian.AppendUint32(dst, uint32(dim.Len))
			dst = binary.BigEndian.AppendUint32(dst, uint32(dim.Lower))
		}
		for _, e := range d.Elems {
			dst = AppendKey(dst, d.Elem, e)
		}
		return dst
	case Record:
		for i, e := range d {
			dst = AppendKey(dst, fieldType(t, i, e), e)
		}
		return dst
	}
	dst, _ = appendBinaryTime(dst, t, d) // fixed-width numbers
	return dst
}

func appendStringKey(dst []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(s))), s...)
}

// plainFloat normalizes equal values: -0 to 0, and all NaNs.
func plainFloat(f float64) float64 {
	switch {
	case f == 0:
		return 0
	case math.IsNaN(f):
		return math.NaN()
	}
	return f
}
