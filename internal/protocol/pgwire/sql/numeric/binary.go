package numeric

import (
	"encoding/binary"
	"math/big"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// Signs in the binary format of a numeric.
const (
	signPositive = 0x0000
	signNegative = 0x4000
	signNaN      = 0xC000
	signPlusInf  = 0xD000
	signMinusInf = 0xF000
)

// ParseBinary parses the binary format: number of base-10,000 digits, weight of the first, sign,
// digits after the decimal point, the digits.
func ParseBinary(b []byte) (Number, error) {
	const header = 8
	if len(b) < header {
		return Number{}, errLength(true)
	}
	count, weight := int(binary.BigEndian.Uint16(b)), int32(int16(binary.BigEndian.Uint16(b[2:])))
	sign, scale := binary.BigEndian.Uint16(b[4:]), int32(binary.BigEndian.Uint16(b[6:]))
	if len(b) != header+2*count {
		return Number{}, errLength(len(b) < header+2*count)
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
		return Number{}, pgerror.New("22P03", "invalid sign in external \"numeric\" value")
	}
	if scale > maxScale {
		return Number{}, pgerror.New("22P03", "invalid scale in external \"numeric\" value")
	}
	digits := make([]byte, 0, count*baseDigits)
	for i := range count {
		d := binary.BigEndian.Uint16(b[header+2*i:])
		if d > 9999 {
			return Number{}, pgerror.New("22P03", "invalid digit in external \"numeric\" value")
		}
		digits = append(digits, '0'+byte(d/1000), '0'+byte(d/100%10), '0'+byte(d/10%10), '0'+byte(d%10))
	}
	unscaled, ok := new(big.Int).SetString(string(digits), 10)
	if !ok {
		return Number{scale: scale}, nil
	}
	if sign == signNegative {
		unscaled.Neg(unscaled)
	}
	// Digits beyond the scale are truncated, as in PostgreSQL.
	own := int32(count)*baseDigits - (weight+1)*baseDigits
	if own < 0 {
		unscaled, own = unscaled.Mul(unscaled, pow10(-own)), 0
	}
	return Number{unscaled: unscaled, scale: own}.Trunc(int(scale)).check()
}

func errLength(short bool) error {
	if short {
		return pgerror.New(pgerror.ProtocolViolation, "insufficient data left in message")
	}
	return pgerror.New("22P03", "incorrect binary data format")
}

// AppendBinary appends the binary format.
func (n Number) AppendBinary(dst []byte) []byte {
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
	digits := new(big.Int).Abs(Number{unscaled: n.unscaled, scale: n.scale}.rescale(groups * baseDigits)).String()
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
