package value

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"strings"

	"fiveways.dev/fiveways/internal/core/hstore"
	"fiveways.dev/fiveways/internal/protocol/pgwire/charset"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/numeric"
)

// ParseBinary parses the binary format of a value like PostgreSQL's receive functions. It does not
// keep b.
func ParseBinary(t *Type, b []byte) (Datum, error) {
	if width := t.binaryWidth(); width > 0 && len(b) != width {
		return nil, wrongLength(len(b), width)
	}
	switch t {
	case Text, Varchar, BPChar, Name, Unknown, JSON, XML, CString, Refcursor, NodeTree:
		return parseBinaryText(t, b)
	case JSONB:
		if len(b) == 0 {
			return nil, errShort()
		}
		if b[0] != 1 {
			return nil, pgerror.New(pgerror.InternalError, "unsupported jsonb version number %d", b[0])
		}
		return parseBinaryText(t, b[1:])
	case Bool:
		return b[0] != 0, nil
	case Char:
		return strings.TrimRight(string(b), "\x00"), nil
	case Int2:
		return int64(int16(binary.BigEndian.Uint16(b))), nil
	case Int4:
		return int64(int32(binary.BigEndian.Uint32(b))), nil
	case Int8:
		return int64(binary.BigEndian.Uint64(b)), nil
	case Float4:
		return float64(math.Float32frombits(binary.BigEndian.Uint32(b))), nil
	case Float8:
		return math.Float64frombits(binary.BigEndian.Uint64(b)), nil
	case Bytea:
		return append([]byte{}, b...), nil
	case NumericType:
		return datum(numeric.ParseBinary(b))
	case UUID:
		text := hex.EncodeToString(b)
		return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:], nil
	case Hstore:
		m, err := hstore.ParseBinary(b)
		if err != nil {
			return nil, hstoreError(err)
		}
		return m, nil
	case Void:
		return "", nil
	}
	return parseBinaryMore(t, b)
}

func parseBinaryMore(t *Type, b []byte) (Datum, error) {
	switch {
	case t.IsEnum():
		label, err := parseBinaryText(t, b)
		if err != nil {
			return nil, err
		}
		return parseLabel(t, label.(string))
	case t.isOID():
		return int64(binary.BigEndian.Uint32(b)), nil
	case t.isTime():
		return parseBinaryTime(t, b)
	case t == Inet:
		return parseBinaryInet(b)
	case t.IsArray():
		return parseBinaryArray(t.Elem, b)
	case t.IsRow():
		return parseBinaryRecord(t, b)
	}
	return nil, pgerror.New(pgerror.UndefinedFunction, "no binary input function available for type %s", t)
}

// binaryWidth returns the length of the binary format, or 0 if it varies.
func (t *Type) binaryWidth() int {
	switch t {
	case Bool, Int2, Int4, Int8, Float4, Float8, UUID, DateType, TimeType, TimestampType, TimestampTZType, IntervalType:
		return int(t.Len)
	case Char:
		return 1
	}
	if t.isOID() {
		return 4
	}
	return 0
}

func (t *Type) isOID() bool { return t == OID || t == XID || t == CID || t.isReg() }

func wrongLength(length, width int) error {
	switch {
	case length > width:
		return errTrailing()
	case width == 1:
		return errNoByte()
	}
	return errShort()
}

func parseBinaryText(t *Type, b []byte) (Datum, error) {
	s := string(b)
	if err := charset.Valid(s); err != nil {
		return nil, err
	}
	switch t {
	case Name:
		return cutText(s, maxNameBytes), nil
	case JSON, JSONB:
		return parseJSON(t, s)
	}
	return s, nil
}

// AppendBinary appends the binary format of d, which must not be nil, to dst.
func AppendBinary(dst []byte, t *Type, d Datum) ([]byte, error) {
	switch d := d.(type) {
	case string:
		return appendBinaryString(dst, t, d)
	case int64:
		switch {
		case t == Int2:
			return binary.BigEndian.AppendUint16(dst, uint16(d)), nil
		case t == Int8:
			return binary.BigEndian.AppendUint64(dst, uint64(d)), nil
		}
		return binary.BigEndian.AppendUint32(dst, uint32(d)), nil
	case bool:
		if d {
			return append(dst, 1), nil
		}
		return append(dst, 0), nil
	case float64:
		if t == Float4 {
			return binary.BigEndian.AppendUint32(dst, math.Float32bits(float32(d))), nil
		}
		if math.IsNaN(d) {
			return binary.BigEndian.AppendUint64(dst, cNaN), nil
		}
		return binary.BigEndian.AppendUint64(dst, math.Float64bits(d)), nil
	case []byte:
		return append(dst, d...), nil
	case numeric.Number:
		return d.AppendBinary(dst), nil
	case hstore.Map:
		return d.AppendBinary(dst), nil
	case *Array:
		return appendBinaryArray(dst, d)
	case Record:
		return appendBinaryRecord(dst, t, d)
	}
	return appendBinaryTime(dst, t, d)
}

func appendBinaryString(dst []byte, t *Type, s string) ([]byte, error) {
	switch t {
	case UUID:
		return hex.AppendDecode(dst, []byte(strings.ReplaceAll(s, "-", "")))
	case JSONB:
		return append(append(dst, 1), s...), nil
	case Char:
		if s == "" {
			return append(dst, 0), nil
		}
	case Inet:
		return appendBinaryInet(dst, s)
	case ACLItem, LSN, TID:
		return dst, pgerror.New(pgerror.UndefinedFunction, "no binary output function available for type %s", t)
	}
	return append(dst, s...), nil
}

// cNaN is the bit pattern of NaN in C, which differs from Go's.
const cNaN = 0x7ff8000000000000
