package value

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// Numeric is a value of the type numeric: a decimal with an explicit number of digits after the
// decimal point. The zero value is 0. It is immutable.
//
// The digits are a math/big.Int. PostgreSQL's rules for the number of digits after the decimal
// point are implemented here, because no library has them. Only the logarithm and the exponential
// function come from a library (numeric_math.go).
type Numeric struct {
	unscaled *big.Int // nil: 0
	scale    int32    // digits after the decimal point, at least 0
	special  special
}

type special byte

const (
	finite special = iota
	notANumber
	plusInfinity
	minusInfinity
)

// Special values.
var (
	NaN         = Numeric{special: notANumber}
	Infinity    = Numeric{special: plusInfinity}
	NegInfinity = Numeric{special: minusInfinity}
)

// Limits of the type.
const (
	maxIntegerDigits = 131072
	maxScale         = 16383
)

var zero, one = new(big.Int), big.NewInt(1)

// powers holds the powers of ten that fit in an int64, and more.
var powers = func() (p [64]*big.Int) {
	for i := range p {
		p[i] = new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(i)), nil)
	}
	return p
}()

func pow10(n int32) *big.Int {
	if int(n) < len(powers) {
		return powers[n]
	}
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// NumericFromInt returns n.
func NumericFromInt(n int64) Numeric { return Numeric{unscaled: big.NewInt(n)} }

// NumericFromFloat converts f with the digits that PostgreSQL uses for a number of type t, Float8
// or Float4.
func NumericFromFloat(f float64, t *Type) Numeric {
	switch {
	case math.IsNaN(f):
		return NaN
	case math.IsInf(f, 1):
		return Infinity
	case math.IsInf(f, -1):
		return NegInfinity
	}
	digits := 15
	if t == Float4 {
		digits = 6
	}
	n, _ := ParseNumeric(strconv.FormatFloat(f, 'g', digits, 64)) // always within the range of numeric
	return n
}

func (n Numeric) int() *big.Int {
	if n.unscaled == nil {
		return zero
	}
	return n.unscaled
}

// IsNaN reports whether n is NaN.
func (n Numeric) IsNaN() bool { return n.special == notANumber }

// IsInf reports whether n is infinity or -infinity.
func (n Numeric) IsInf() bool { return n.special >= plusInfinity }

// Sign returns -1, 0 or 1. It returns 0 for NaN.
func (n Numeric) Sign() int {
	switch n.special {
	case plusInfinity:
		return 1
	case minusInfinity:
		return -1
	}
	return n.int().Sign()
}

// Scale returns the number of digits after the decimal point.
func (n Numeric) Scale() int { return int(n.scale) }

// check returns an error if n is out of range.
func (n Numeric) check() (Numeric, error) {
	if n.scale > maxScale || n.digits()-n.scale > maxIntegerDigits {
		return Numeric{}, errNumericOverflow()
	}
	return n, nil
}

func errNumericOverflow() error {
	return pgerror.New(pgerror.NumericOutOfRange, "value overflows numeric format")
}

// digits returns the number of decimal digits of the unscaled value, or 0 for 0.
func (n Numeric) digits() int32 {
	i := n.int()
	if i.Sign() == 0 {
		return 0
	}
	if i.IsInt64() {
		v := i.Int64()
		count := int32(0)
		for ; v != 0; v /= 10 {
			count++
		}
		return count
	}
	// The estimate log10(2) * bits is exact or one too many.
	count := int32(float64(i.BitLen())*math.Log10(2)) + 1
	if i.CmpAbs(pow10(count-1)) < 0 {
		count--
	}
	return count
}

// ParseNumeric parses the text format.
func ParseNumeric(s string) (Numeric, error) {
	text := strings.Trim(s, " \t\n\v\f\r")
	body := strings.TrimLeft(text, "+-")
	if len(text)-len(body) > 1 || body == "" {
		return Numeric{}, badText(NumericType, s)
	}
	negative := text[0] == '-'
	switch strings.ToLower(body) {
	case "nan":
		if body == text {
			return NaN, nil
		}
	case "infinity", "inf":
		if negative {
			return NegInfinity, nil
		}
		return Infinity, nil
	}
	digits, exponent, ok := splitDecimal(body)
	if !ok {
		return Numeric{}, badText(NumericType, s)
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	return assemble(negative, whole+fraction, int64(len(fraction))-exponent)
}

// splitDecimal validates the format digits[.digits][e[sign]digits] and splits off the exponent.
func splitDecimal(s string) (digits string, exponent int64, ok bool) {
	digits = s
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		digits = s[:i]
		power := s[i+1:]
		if !allDigits(strings.TrimLeft(power, "+-")) || len(power) > 1 && strings.ContainsAny(power[1:], "+-") {
			return "", 0, false
		}
		exponent, _ = strconv.ParseInt(power, 10, 64) // out of range: the nearest int64
		exponent = min(max(exponent, math.MinInt32), math.MaxInt32)
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	return digits, exponent, whole+fraction != "" && allDigits(whole+fraction)
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// assemble returns the number with the given digits and scale, which may be negative.
func assemble(negative bool, digits string, scale int64) (Numeric, error) {
	digits = strings.TrimLeft(digits, "0")
	if scale > maxScale || scale < -math.MaxInt32/2 || digits != "" && int64(len(digits))-scale > maxIntegerDigits {
		return Numeric{}, errNumericOverflow()
	}
	if digits == "" {
		return Numeric{scale: int32(max(scale, 0))}, nil
	}
	i, _ := new(big.Int).SetString(digits, 10)
	if scale < 0 {
		i.Mul(i, pow10(int32(-scale)))
		scale = 0
	}
	if negative {
		i.Neg(i)
	}
	return Numeric{unscaled: i, scale: int32(scale)}, nil
}

// Append appends the text format.
func (n Numeric) Append(dst []byte) []byte {
	switch n.special {
	case notANumber:
		return append(dst, "NaN"...)
	case plusInfinity:
		return append(dst, "Infinity"...)
	case minusInfinity:
		return append(dst, "-Infinity"...)
	}
	if n.scale == 0 {
		return n.int().Append(dst, 10)
	}
	if n.int().Sign() < 0 {
		dst = append(dst, '-')
	}
	digits := new(big.Int).Abs(n.int()).Append(nil, 10)
	if missing := int(n.scale) + 1 - len(digits); missing > 0 {
		digits = append([]byte(strings.Repeat("0", missing)), digits...)
	}
	point := len(digits) - int(n.scale)
	return append(append(append(dst, digits[:point]...), '.'), digits[point:]...)
}

func (n Numeric) String() string { return string(n.Append(nil)) }

// Float64 returns the nearest float8, or an error if n is out of range.
func (n Numeric) Float64() (float64, error) {
	return parseFloat(Float8, n.String())
}

// Int64 rounds n to an integer. to is the type to name in an overflow error.
func (n Numeric) Int64(to *Type) (int64, error) {
	switch n.special {
	case notANumber:
		return 0, pgerror.New(pgerror.FeatureNotSupported, "cannot convert NaN to %s", to)
	case plusInfinity, minusInfinity:
		return 0, pgerror.New(pgerror.FeatureNotSupported, "cannot convert infinity to %s", to)
	}
	i := n.Round(0).int()
	if !i.IsInt64() || !FitsInt(to, i.Int64()) {
		return 0, ErrOutOfRange(to)
	}
	return i.Int64(), nil
}
