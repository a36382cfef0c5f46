package value

import (
	"encoding/binary"
	"encoding/hex"
	"math"
	"math/big"
	"strings"

	"fiveways.dev/fiveways/internal/core/hstore"
	"fiveways.dev/fiveways/internal/protocol/pgwire/charset"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// ParseBinary parses the binary format of a value like PostgreSQL's receive functions. It does not
// keep b.
func ParseBinary(t *Type, b []byte) (Datum, error) {
	if width := t.binaryWidth(); width > 0 && len(b) != width {
		return nil, wrongLength(t, len(b) < width)
	}
	switch t {
	case Text, Varchar, BPChar, Name, Unknown, JSON, XML, CString, Refcursor, NodeTree:
		return parseBinaryText(t, b)
	case JSONB:
		if len(b) == 0 || b[0] != 1 {
			return nil, pgerror.New(pgerror.InternalError, "unsupported jsonb version number")
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
		return parseBinaryNumeric(b)
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

func wrongLength(t *Type, short bool) error {
	if short {
		return pgerror.New(pgerror.ProtocolViolation, "insufficient data left in message")
	}
	return badBinary(t)
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
	case Numeric:
		return appendBinaryNumeric(dst, d), nil
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
	case Inet, ACLItem, LSN, TID:
		return dst, pgerror.New(pgerror.UndefinedFunction, "no binary output function available for type %s", t)
	}
	return append(dst, s...), nil
}

// cNaN is the bit pattern of NaN in C, which differs from Go's.
const cNaN = 0x7ff8000000000000

// Signs in the binary format of a numeric.
const (
	signPositive = 0x0000
	signNegative = 0x4000
	signNaN      = 0xC000
	signPlusInf  = 0xD000
	signMinusInf = 0xF000
)

// parseBinaryNumeric parses: number of base-10,000 digits, weight of the first, sign, digits after
// the decimal point, the digits.
func parseBinaryNumeric(b []byte) (Datum, error) {
	const header = 8
	if len(b) < header {
		return nil, wrongLength(NumericType, true)
	}
	count, weight := int(binary.BigEndian.Uint16(b)), int32(int16(binary.BigEndian.Uint16(b[2:])))
	sign, scale := binary.BigEndian.Uint16(b[4:]), int32(binary.BigEndian.Uint16(b[6:]))
	if len(b) != header+2*count {
		return nil, wrongLength(NumericType, len(b) < header+2*count)
	}
	switch sign {
	case signNaN:
		return NaN, nil
	case signPlusInf:
		return Infinity, nil
	case signMinusInf:
		return NegInfinity, nil
	case signPositive, signNegative:
	default:
		return nil, pgerror.New("22P03", "invalid sign in external \"numeric\" value")
	}
	if scale > maxScale {
		return nil, pgerror.New("22P03", "invalid scale in external \"numeric\" value")
	}
	digits := make([]byte, 0, count*baseDigits)
	for i := range count {
		d := binary.BigEndian.Uint16(b[header+2*i:])
		if d > 9999 {
			return nil, pgerror.New("22P03", "invalid digit in external \"numeric\" value")
		}
		digits = append(digits, '0'+byte(d/1000), '0'+byte(d/100%10), '0'+byte(d/10%10), '0'+byte(d%10))
	}
	unscaled, ok := new(big.Int).SetString(string(digits), 10)
	if !ok {
		return Numeric{scale: scale}, nil
	}
	if sign == signNegative {
		unscaled.Neg(unscaled)
	}
	// Digits beyond the scale are truncated, as in PostgreSQL.
	own := int32(count)*baseDigits - (weight+1)*baseDigits
	if own < 0 {
		unscaled, own = unscaled.Mul(unscaled, pow10(-own)), 0
	}
	return datum(Numeric{unscaled: unscaled, scale: own}.Trunc(int(scale)).check())
}

func appendBinaryNumeric(dst []byte, n Numeric) []byte {
	head := func(count, weight int, sign uint16, scale int32) {
		for _, v := range []uint16{uint16(count), uint16(weight), sign, uint16(scale)} {
			dst = binary.BigEndian.AppendUint16(dst, v)
		}
	}
	switch n.special {
	case notANumber:
		head(0, 0, signNaN, 0)
		return dst
	case plusInfinity:
		head(0, 0, signPlusInf, 32)
		return dst
	case minusInfinity:
		head(0, 0, signMinusInf, 32)
		return dst
	}
	// Groups of four digits, aligned to the decimal point.
	groups := floorDiv(n.scale+baseDigits-1, baseDigits)
	digits := new(big.Int).Abs(Numeric{unscaled: n.unscaled, scale: n.scale}.rescale(groups * baseDigits)).String()
	if over := len(digits) % baseDigits; over > 0 {
		digits = strings.Repeat("0", baseDigits-over) + digits
	}
	weight := len(digits)/baseDigits - 1 - int(groups)
	for strings.HasPrefix(digits, "0000") {
		digits = digits[baseDigits:]
		weight--
	}
	for strings.HasSuffix(digits, "0000") {
		digits = digits[:len(digits)-baseDigits]
	}
	if digits == "" {
		weight = 0
	}
	sign := uint16(signPositive)
	if n.Sign() < 0 {
		sign = signNegative
	}
	head(len(digits)/baseDigits, weight, sign, n.scale)
	for ; digits != ""; digits = digits[baseDigits:] {
		v := uint16(digits[0]-'0')*1000 + uint16(digits[1]-'0')*100 + uint16(digits[2]-'0')*10 + uint16(digits[3]-'0')
		dst = binary.BigEndian.AppendUint16(dst, v)
	}
	return dst
}
