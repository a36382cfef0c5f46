package message

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// DecodeTable decodes a field table from its payload, without the length in front. It copies
// strings and bytes, so the result does not alias b. The error wraps ErrMalformedTable or
// ErrTableTooDeep.
func DecodeTable(b []byte) (Table, error) {
	r := NewReader(b)
	t := decodeTable(&r, 1)
	return t, tableError(&r)
}

// CheckTable returns an error if DecodeTable would not accept b. It does not allocate.
func CheckTable(b []byte) error {
	r := NewReader(b)
	skipTable(&r, 1)
	return tableError(&r)
}

// HeaderLookup returns the first value called name of the raw table (without its length), and
// decodes only that value. It stops there: the data after it is not validated, and a table that is
// malformed earlier counts as not having the name.
func HeaderLookup(raw []byte, name string) (value any, ok bool) {
	r := NewReader(raw)
	for r.Len() > 0 {
		found := string(r.ShortStr()) == name && r.Err() == nil
		if found {
			value = decodeValue(&r, 1)
			return value, r.Err() == nil
		}
		skipValue(&r, 1)
	}
	return nil, false
}

// tableError converts a reader's failure to ErrMalformedTable.
func tableError(r *Reader) error {
	err := r.Err()
	if errors.Is(err, ErrTruncated) {
		return fmt.Errorf("%w: %w", ErrMalformedTable, err)
	}
	return err
}

// decodeTable reads fields to the end of r. An empty table is an empty Table, not nil.
func decodeTable(r *Reader, depth int) Table {
	t := Table{}
	for r.Len() > 0 {
		name := string(r.ShortStr())
		t = append(t, Field{Name: name, Value: decodeValue(r, depth)})
	}
	if r.Err() != nil {
		return nil
	}
	return t
}

func decodeArray(r *Reader, depth int) Array {
	a := Array{}
	for r.Len() > 0 {
		a = append(a, decodeValue(r, depth))
	}
	return a
}

// nested returns a reader of the contents of a table or array in a container of the given depth.
func nested(r *Reader, depth int) Reader {
	if depth >= MaxTableDepth {
		r.Fail(ErrTableTooDeep)
	}
	return NewReader(r.LongStr())
}

// decodeValue reads a type letter and the value that it announces.
func decodeValue(r *Reader, depth int) any {
	switch letter := r.Uint8(); letter {
	case 'S':
		return string(r.LongStr())
	case 't':
		return r.Uint8() != 0
	case 'b':
		return int8(r.Uint8())
	case 'B':
		return r.Uint8()
	case 's':
		return int16(r.Uint16())
	case 'u':
		return r.Uint16()
	case 'I':
		return int32(r.Uint32())
	case 'i':
		return r.Uint32()
	case 'l':
		return int64(r.Uint64())
	case 'L':
		return LongLong(r.Uint64())
	case 'f':
		return math.Float32frombits(r.Uint32())
	case 'd':
		return math.Float64frombits(r.Uint64())
	case 'D':
		return Decimal{Scale: r.Uint8(), Value: r.Uint32()}
	case 'T':
		return Timestamp(r.Uint64())
	case 'F':
		in := nested(r, depth)
		v := decodeTable(&in, depth+1)
		adopt(r, &in)
		return v
	case 'A':
		in := nested(r, depth)
		v := decodeArray(&in, depth+1)
		adopt(r, &in)
		return v
	case 'x':
		return Bytes(append([]byte{}, r.LongStr()...))
	case 'V':
		return nil
	default:
		failLetter(r, letter)
		return nil
	}
}

func skipTable(r *Reader, depth int) {
	for r.Len() > 0 {
		r.ShortStr()
		skipValue(r, depth)
	}
}

// skipValue validates what decodeValue would decode.
func skipValue(r *Reader, depth int) {
	switch letter := r.Uint8(); letter {
	case 'S', 'x':
		r.LongStr()
	case 't', 'b', 'B':
		r.Uint8()
	case 's', 'u':
		r.Uint16()
	case 'I', 'i', 'f':
		r.Uint32()
	case 'l', 'L', 'd', 'T':
		r.Uint64()
	case 'D':
		r.Uint8()
		r.Uint32()
	case 'F':
		in := nested(r, depth)
		skipTable(&in, depth+1)
		adopt(r, &in)
	case 'A':
		in := nested(r, depth)
		for in.Len() > 0 {
			skipValue(&in, depth+1)
		}
		adopt(r, &in)
	case 'V':
	default:
		failLetter(r, letter)
	}
}

// adopt makes a failure in a nested value a failure of the whole.
func adopt(r, in *Reader) {
	if err := in.Err(); err != nil {
		r.Fail(err)
	}
}

// failLetter reports an unknown letter. If the letter itself was missing, that failure stays and
// nothing is allocated.
func failLetter(r *Reader, letter byte) {
	if r.Err() == nil {
		r.Fail(fmt.Errorf("%w: unknown type letter %q", ErrMalformedTable, letter))
	}
}

// AppendTable appends t preceded by its length. t must hold only the types that Table documents;
// Validate checks this for tables that were not decoded from the wire.
func AppendTable(dst []byte, t Table) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	for i := range t {
		dst = AppendShortStr(dst, t[i].Name)
		dst = appendValue(dst, t[i].Value)
	}
	return patchLength(dst, start)
}

func appendArray(dst []byte, a []any) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	for _, v := range a {
		dst = appendValue(dst, v)
	}
	return patchLength(dst, start)
}

// patchLength writes the length of everything after the four bytes at start into them.
func patchLength(dst []byte, start int) []byte {
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-4))
	return dst
}

func appendValue(dst []byte, v any) []byte {
	be := binary.BigEndian
	switch v := v.(type) {
	case string:
		return AppendLongStr(append(dst, 'S'), v)
	case bool:
		octet := byte(0)
		if v {
			octet = 1
		}
		return append(dst, 't', octet)
	case int8:
		return append(dst, 'b', byte(v))
	case uint8:
		return append(dst, 'B', v)
	case int16:
		return be.AppendUint16(append(dst, 's'), uint16(v))
	case uint16:
		return be.AppendUint16(append(dst, 'u'), v)
	case int32:
		return be.AppendUint32(append(dst, 'I'), uint32(v))
	case uint32:
		return be.AppendUint32(append(dst, 'i'), v)
	case int64:
		return be.AppendUint64(append(dst, 'l'), uint64(v))
	case int:
		return be.AppendUint64(append(dst, 'l'), uint64(v))
	case LongLong:
		return be.AppendUint64(append(dst, 'L'), uint64(v))
	case float32:
		return be.AppendUint32(append(dst, 'f'), math.Float32bits(v))
	case float64:
		return be.AppendUint64(append(dst, 'd'), math.Float64bits(v))
	case Decimal:
		return be.AppendUint32(append(dst, 'D', v.Scale), v.Value)
	case Timestamp:
		return be.AppendUint64(append(dst, 'T'), uint64(v))
	case Table:
		return AppendTable(append(dst, 'F'), v)
	case Array:
		return appendArray(append(dst, 'A'), v)
	case []any:
		return appendArray(append(dst, 'A'), v)
	case Bytes:
		return AppendLongStr(append(dst, 'x'), v)
	case []byte:
		return AppendLongStr(append(dst, 'x'), v)
	case nil:
		return append(dst, 'V')
	}
	panic(fmt.Sprintf("message: table value of type %T", v))
}

// Validate returns an error unless t can be encoded and decoded again: every value has a documented
// type, every name fits a short string, and nothing nests deeper than MaxTableDepth. Protocols that
// build tables from something other than AMQP call it first. The error wraps ErrUnencodable or
// ErrTableTooDeep.
func (t Table) Validate() error { return t.validate(1) }

func (t Table) validate(depth int) error {
	if depth > MaxTableDepth {
		return ErrTableTooDeep
	}
	for _, f := range t {
		if len(f.Name) > MaxShortStr {
			return fmt.Errorf("%w: name of %d bytes", ErrUnencodable, len(f.Name))
		}
		if err := validateValue(f.Value, depth); err != nil {
			return err
		}
	}
	return nil
}

func validateValue(v any, depth int) error {
	switch v := v.(type) {
	case Table:
		return v.validate(depth + 1)
	case Array:
		return validateArray(v, depth+1)
	case []any:
		return validateArray(v, depth+1)
	}
	if TypeName(v) == "unknown" {
		return fmt.Errorf("%w: type %T", ErrUnencodable, v)
	}
	return nil
}

func validateArray(a []any, depth int) error {
	if depth > MaxTableDepth {
		return ErrTableTooDeep
	}
	for _, v := range a {
		if err := validateValue(v, depth); err != nil {
			return err
		}
	}
	return nil
}

// SkipHeader splits the first field off an encoded table (without its length): its name, and the
// fields behind it. It ends a malformed table. Walking over all names is cheaper than looking up
// each one of interest.
func SkipHeader(fields []byte) (name, rest []byte) {
	n := 1 + int(fields[0])
	if n+5 <= len(fields) { // true for nearly all headers, and needs no Reader
		value := fields[n+1:]
		size := -1
		switch fields[n] {
		case 'S':
			size = 4 + int(binary.BigEndian.Uint32(value))
		case 'I':
			size = 4
		case 'l', 'T':
			size = 8
		}
		if size >= 0 && size <= len(value) {
			return fields[1:n], value[size:]
		}
	}
	return skipHeader(fields)
}

func skipHeader(fields []byte) (name, rest []byte) {
	r := NewReader(fields)
	name = r.ShortStr()
	skipValue(&r, 1)
	return name, r.Rest()
}
