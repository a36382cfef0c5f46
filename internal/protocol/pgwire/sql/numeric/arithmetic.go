package numeric

import (
	"math/big"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// rescale returns the unscaled value of n for a scale that is not smaller than its own.
func (n Number) rescale(scale int32) *big.Int {
	if scale == n.scale {
		return n.int()
	}
	return new(big.Int).Mul(n.int(), pow10(scale-n.scale))
}

// Cmp compares numbers. Infinities are at the ends. NaN is greater than all other values and equal
// to itself.
func (n Number) Cmp(b Number) int {
	if n.special != finite || b.special != finite {
		return n.specialRank() - b.specialRank()
	}
	if n.scale == b.scale {
		return n.int().Cmp(b.int())
	}
	if s, t := n.int().Sign(), b.int().Sign(); s != t || s == 0 {
		return min(max(s-t, -1), 1)
	}
	scale := max(n.scale, b.scale)
	return n.rescale(scale).Cmp(b.rescale(scale))
}

// specialRank orders -infinity, finite numbers, infinity and NaN, so that a difference of ranks is
// a comparison result if either number is special.
func (n Number) specialRank() int {
	return [...]int{finite: 0, notANumber: 2, plusInfinity: 1, minusInfinity: -1}[n.special]
}

// Neg returns -n.
func (n Number) Neg() Number {
	switch n.special {
	case plusInfinity:
		return NegInfinity
	case minusInfinity:
		return Infinity
	case notANumber:
		return n
	}
	return Number{unscaled: new(big.Int).Neg(n.int()), scale: n.scale}
}

// Abs returns the absolute value of n.
func (n Number) Abs() Number {
	if n.Sign() < 0 {
		return n.Neg()
	}
	return n
}

// Add returns n + b.
func (n Number) Add(b Number) (Number, error) {
	if n.special != finite || b.special != finite {
		switch {
		case n.IsNaN() || b.IsNaN() || n.IsInf() && b.IsInf() && n.special != b.special:
			return NaN, nil
		case n.IsInf():
			return n, nil
		}
		return b, nil
	}
	scale := max(n.scale, b.scale)
	return Number{unscaled: new(big.Int).Add(n.rescale(scale), b.rescale(scale)), scale: scale}.check()
}

// Sub returns n - b.
func (n Number) Sub(b Number) (Number, error) { return n.Add(b.Neg()) }

func signed(sign int) Number {
	switch {
	case sign > 0:
		return Infinity
	case sign < 0:
		return NegInfinity
	}
	return NaN
}

// Mul returns n * b.
func (n Number) Mul(b Number) (Number, error) {
	if n.special != finite || b.special != finite {
		if n.IsNaN() || b.IsNaN() {
			return NaN, nil
		}
		return signed(n.Sign() * b.Sign()), nil
	}
	product := Number{unscaled: new(big.Int).Mul(n.int(), b.int()), scale: n.scale + b.scale}
	if product.scale > maxScale {
		product = product.Round(maxScale)
	}
	return product.check()
}

// specialQuotient returns n / b if either is special.
func (n Number) specialQuotient(b Number) (Number, error) {
	switch {
	case n.IsNaN() || b.IsNaN() || n.IsInf() && b.IsInf():
		return NaN, nil
	case n.IsInf() && b.Sign() == 0:
		return Number{}, pgerror.DividedByZero()
	case n.IsInf():
		return signed(n.Sign() * b.Sign()), nil
	}
	return Number{}, nil
}

// Div returns n / b with PostgreSQL's scale, which provides at least 16 significant digits.
func (n Number) Div(b Number) (Number, error) {
	if n.special != finite || b.special != finite {
		return n.specialQuotient(b)
	}
	if b.Sign() == 0 {
		return Number{}, pgerror.DividedByZero()
	}
	return n.quotient(b, n.divScale(b)).check()
}

// quotient returns n / b rounded to a scale.
func (n Number) quotient(b Number, scale int32) Number {
	shift := scale + b.scale - n.scale
	num, den := n.int(), b.int()
	if shift >= 0 {
		num = new(big.Int).Mul(num, pow10(shift))
	} else {
		den = new(big.Int).Mul(den, pow10(-shift))
	}
	return Number{unscaled: divideRounded(num, den), scale: scale}
}

// divideRounded returns num / den, rounded half away from zero.
func divideRounded(num, den *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(num, den, new(big.Int))
	if r.Lsh(r, 1).CmpAbs(den) >= 0 {
		step := one
		if num.Sign()*den.Sign() < 0 {
			step = big.NewInt(-1)
		}
		q.Add(q, step)
	}
	return q
}

// PostgreSQL defines scales in terms of its base-10,000 digits.
const (
	baseDigits      = 4
	minSignificant  = 16
	maxDisplayScale = 1000
)

// leading returns the weight and the value of the first base-10,000 digit, or 0, 0 for 0.
func (n Number) leading() (weight int32, digit int64) {
	count := n.digits()
	if count == 0 {
		return 0, 0
	}
	exponent := count - 1 - n.scale
	weight = floorDiv(exponent, baseDigits)
	keep := exponent - weight*baseDigits + 1
	first := new(big.Int).Abs(n.int())
	if count >= keep {
		first.Quo(first, pow10(count-keep))
	} else {
		first.Mul(first, pow10(keep-count))
	}
	return weight, first.Int64()
}

func floorDiv(a, b int32) int32 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func (n Number) divScale(b Number) int32 {
	weight1, first1 := n.leading()
	weight2, first2 := b.leading()
	weight := weight1 - weight2
	if first1 <= first2 {
		weight--
	}
	return displayScale(minSignificant-weight*baseDigits, n.scale, b.scale)
}

// displayScale returns the maximum of the scales, clamped to PostgreSQL's limits.
func displayScale(scales ...int32) int32 {
	scale := int32(0)
	for _, s := range scales {
		scale = max(scale, s)
	}
	return min(scale, maxDisplayScale)
}

// QuoInt returns the quotient truncated to an integer: div(n, b).
func (n Number) QuoInt(b Number) (Number, error) {
	if n.special != finite || b.special != finite {
		return n.specialQuotient(b)
	}
	if b.Sign() == 0 {
		return Number{}, pgerror.DividedByZero()
	}
	scale := max(n.scale, b.scale)
	return Number{unscaled: new(big.Int).Quo(n.rescale(scale), b.rescale(scale))}, nil
}

// Mod returns the remainder of n / b, with the sign of n.
func (n Number) Mod(b Number) (Number, error) {
	switch {
	case n.IsNaN() || b.IsNaN():
		return NaN, nil
	case b.Sign() == 0:
		return Number{}, pgerror.DividedByZero()
	case n.IsInf():
		return NaN, nil
	case b.IsInf():
		return n, nil
	}
	scale := max(n.scale, b.scale)
	return Number{unscaled: new(big.Int).Rem(n.rescale(scale), b.rescale(scale)), scale: scale}, nil
}

// Round rounds half away from zero to digits after the decimal point, or before it if digits is
// negative.
func (n Number) Round(digits int) Number { return n.cut(digits, divideRounded) }

// Trunc truncates toward zero to digits after the decimal point.
func (n Number) Trunc(digits int) Number { return n.cut(digits, divideTruncated) }

func divideTruncated(num, den *big.Int) *big.Int { return new(big.Int).Quo(num, den) }

// cut returns n with digits after the decimal point.
func (n Number) cut(digits int, divide func(num, den *big.Int) *big.Int) Number {
	if n.special != finite {
		return n
	}
	to := int32(min(max(digits, -maxIntegerDigits), maxScale))
	if to >= n.scale {
		return Number{unscaled: n.rescale(to), scale: to}
	}
	result := divide(n.int(), pow10(n.scale-to))
	if to < 0 {
		return Number{unscaled: result.Mul(result, pow10(-to))}
	}
	return Number{unscaled: result, scale: to}
}

// Floor returns the greatest integer not greater than n.
func (n Number) Floor() Number {
	return n.cut(0, func(num, den *big.Int) *big.Int {
		q, m := new(big.Int).QuoRem(num, den, new(big.Int))
		if m.Sign() < 0 {
			q.Sub(q, one)
		}
		return q
	})
}

// Ceil returns the smallest integer not smaller than n.
func (n Number) Ceil() Number { return n.Neg().Floor().Neg() }

// MinScale returns the minimum number of digits after the decimal point that represents n exactly.
func (n Number) MinScale() int {
	digits := new(big.Int).Set(n.int())
	scale := n.scale
	for r := new(big.Int); scale > 0; scale-- {
		q, r := new(big.Int).QuoRem(digits, powers[1], r)
		if r.Sign() != 0 {
			break
		}
		digits = q
	}
	return int(scale)
}

// TrimScale removes trailing zeros.
func (n Number) TrimScale() Number { return n.cut(n.MinScale(), divideRounded) }

// IsInteger reports whether n is finite and has no fraction.
func (n Number) IsInteger() bool { return n.special == finite && n.MinScale() == 0 }
