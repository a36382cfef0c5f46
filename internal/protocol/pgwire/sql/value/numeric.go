package value

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// Numeric is a number of the type numeric: a decimal with as many digits after its point as it was
// given. The zero value is 0. It is not changed after it was made.
//
// The digits are a math/big.Int beside PostgreSQL's own rule for how many of them stand after the
// point, which no library has; only the logarithm and the exponential are a library's
// (numeric_math.go).
type Numeric struct {
	unscaled *big.Int // nil: 0
	scale    int32    // digits after the point, 0 and up
	special  special
}

type special byte

const (
	finite special = iota
	notANumber
	plusInfinity
	minusInfinity
)

// Values that are no numbers.
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

// powers has the powers of ten that fit an int64, and a few more.
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

// NumericFromFloat returns f with the digits that a numeric gets from a number of type t, Float8 or
// Float4.
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
	n, _ := ParseNumeric(strconv.FormatFloat(f, 'g', digits, 64)) // in the range of numeric whatever it is
	return n
}

func (n Numeric) int() *big.Int {
	if n.unscaled == nil {
		return zero
	}
	return n.unscaled
}

// IsNaN reports whether n is no number.
func (n Numeric) IsNaN() bool { return n.special == notANumber }

// IsInf reports whether n is infinity or -infinity.
func (n Numeric) IsInf() bool { return n.special >= plusInfinity }

// Sign is -1, 0 or 1; 0 for NaN.
func (n Numeric) Sign() int {
	switch n.special {
	case plusInfinity:
		return 1
	case minusInfinity:
		return -1
	}
	return n.int().Sign()
}

// Scale is the number of digits after the point.
func (n Numeric) Scale() int { return int(n.scale) }

// check refuses what is too great for the type.
func (n Numeric) check() (Numeric, error) {
	if n.scale > maxScale || n.digits()-n.scale > maxIntegerDigits {
		return Numeric{}, errNumericOverflow()
	}
	return n, nil
}

func errNumericOverflow() error {
	return pgerror.New(pgerror.NumericOutOfRange, "value overflows numeric format")
}

// digits is the number of decimal digits of the unscaled value; 0 for 0.
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
	// log10(2) times the bits is right or one too many.
	count := int32(float64(i.BitLen())*math.Log10(2)) + 1
	if i.CmpAbs(pow10(count-1)) < 0 {
		count--
	}
	return count
}

// ParseNumeric reads the text form.
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

// splitDecimal checks the form digits[.digits][e[sign]digits] and takes the exponent off.
func splitDecimal(s string) (digits string, exponent int64, ok bool) {
	digits = s
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		digits = s[:i]
		power := s[i+1:]
		if !allDigits(strings.TrimLeft(power, "+-")) || len(power) > 1 && strings.ContainsAny(power[1:], "+-") {
			return "", 0, false
		}
		exponent, _ = strconv.ParseInt(power, 10, 64) // what does not fit comes back as the nearest that does
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

// assemble makes a number of its digits and its scale, which may be negative.
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

// Append appends the text form.
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

// Float64 is the nearest float8; an error when there is none.
func (n Numeric) Float64() (float64, error) {
	return parseFloat(Float8, n.String())
}

// Int64 is n rounded to an integer; to is the type in the error when it does not fit it.
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
