package numeric

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/pgtext"
)

// Number is a value of the type numeric: a decimal with an explicit number of digits after the
// decimal point. The zero value is 0. It is immutable.
//
// The digits are a math/big.Int. PostgreSQL's rules for the number of digits after the decimal
// point are implemented here, because no library has them. Only the logarithm and the exponential
// function come from a library (logarithm.go).
type Number struct {
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
	NaN         = Number{special: notANumber}
	Infinity    = Number{special: plusInfinity}
	NegInfinity = Number{special: minusInfinity}
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

// FromInt returns n.
func FromInt(n int64) Number { return Number{unscaled: big.NewInt(n)} }

// Significant digits with which PostgreSQL converts a float4 and a float8.
const (
	Float4Digits = 6
	Float8Digits = 15
)

// FromFloat converts f, rounded to a number of significant digits.
func FromFloat(f float64, digits int) Number {
	switch {
	case math.IsNaN(f):
		return NaN
	case math.IsInf(f, 1):
		return Infinity
	case math.IsInf(f, -1):
		return NegInfinity
	}
	n, _ := Parse(strconv.FormatFloat(f, 'g', digits, 64)) // always within the range of numeric
	return n
}

func (n Number) int() *big.Int {
	if n.unscaled == nil {
		return zero
	}
	return n.unscaled
}

// IsNaN reports whether n is NaN.
func (n Number) IsNaN() bool { return n.special == notANumber }

// IsInf reports whether n is infinity or -infinity.
func (n Number) IsInf() bool { return n.special >= plusInfinity }

// IsSpecial reports whether n is NaN or an infinity.
func (n Number) IsSpecial() bool { return n.special != finite }

// Sign returns -1, 0 or 1. It returns 0 for NaN.
func (n Number) Sign() int {
	switch n.special {
	case plusInfinity:
		return 1
	case minusInfinity:
		return -1
	}
	return n.int().Sign()
}

// Scale returns the number of digits after the decimal point.
func (n Number) Scale() int { return int(n.scale) }

// check returns an error if n is out of range.
func (n Number) check() (Number, error) {
	if n.scale > maxScale || n.digits()-n.scale > maxIntegerDigits {
		return Number{}, errOverflow()
	}
	return n, nil
}

func errOverflow() error {
	return pgerror.New(pgerror.NumericOutOfRange, "value overflows numeric format")
}

func errSyntax(s string) error {
	return pgerror.New(pgerror.InvalidText, "invalid input syntax for type numeric: \"%s\"", s)
}

// digits returns the number of decimal digits of the unscaled value, or 0 for 0.
func (n Number) digits() int32 {
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

// Parse parses the text format.
func Parse(s string) (Number, error) {
	text := strings.Trim(s, pgtext.Spaces)
	body := strings.TrimLeft(text, "+-")
	if len(text)-len(body) > 1 || body == "" {
		return Number{}, errSyntax(s)
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
		return Number{}, errSyntax(s)
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
		if !pgtext.AllDigits(strings.TrimLeft(power, "+-")) || len(power) > 1 && strings.ContainsAny(power[1:], "+-") {
			return "", 0, false
		}
		exponent, _ = strconv.ParseInt(power, 10, 64) // out of range: the nearest int64
		exponent = min(max(exponent, math.MinInt32), math.MaxInt32)
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	return digits, exponent, whole+fraction != "" && pgtext.AllDigits(whole+fraction)
}

// assemble returns the number with the given digits and scale, which may be negative.
func assemble(negative bool, digits string, scale int64) (Number, error) {
	digits = strings.TrimLeft(digits, "0")
	if scale > maxScale || scale < -math.MaxInt32/2 || digits != "" && int64(len(digits))-scale > maxIntegerDigits {
		return Number{}, errOverflow()
	}
	if digits == "" {
		return Number{scale: int32(max(scale, 0))}, nil
	}
	i, _ := new(big.Int).SetString(digits, 10)
	if scale < 0 {
		i.Mul(i, pow10(int32(-scale)))
		scale = 0
	}
	if negative {
		i.Neg(i)
	}
	return Number{unscaled: i, scale: int32(scale)}, nil
}

// Append appends the text format.
func (n Number) Append(dst []byte) []byte {
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

func (n Number) String() string { return string(n.Append(nil)) }

// Float64 returns the nearest float8, or an error if n is out of range.
func (n Number) Float64() (float64, error) {
	text := n.String()
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f == 0 && n.Sign() != 0 {
		return 0, pgerror.New(pgerror.NumericOutOfRange, "\"%s\" is out of range for type double precision", text)
	}
	return f, nil
}

// Int64 rounds n to an integer. ok is false if n is special or overflows 64 bits.
func (n Number) Int64() (i int64, ok bool) {
	if n.IsSpecial() {
		return 0, false
	}
	rounded := n.Round(0).int()
	return rounded.Int64(), rounded.IsInt64()
}
