package numeric

import (
	"math"
	"math/big"

	"github.com/cockroachdb/apd/v3"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// maxResultScale limits the digits after the decimal point of logarithms and powers.
const maxResultScale = 2000

// SQLSTATEs of undefined powers and logarithms.
const (
	invalidPower     = "2201F"
	invalidLogarithm = "2201E"
	log10e           = 0.434294481903252
	guard            = 12 // digits computed in addition to those of the result
)

// Sqrt returns the square root.
func (n Number) Sqrt() (Number, error) {
	if n.Sign() < 0 {
		return Number{}, pgerror.New(invalidPower, "cannot take square root of a negative number")
	}
	if n.special != finite {
		return n, nil
	}
	weight, _ := n.leading()
	scale := displayScale(minSignificant-((weight+1)*baseDigits/2-1), n.scale)
	root := new(big.Int).Sqrt(n.rescale(max(2*(scale+1), n.scale)))
	return Number{unscaled: root, scale: scale + 1}.Round(int(scale)), nil
}

func (n Number) decimal() *apd.Decimal {
	d := apd.New(0, -n.scale)
	d.Coeff.SetMathBigInt(new(big.Int).Abs(n.int()))
	d.Negative = n.Sign() < 0
	return d
}

// fromDecimal converts d, rounded to a scale.
func fromDecimal(d *apd.Decimal, scale int32) (Number, error) {
	digits, exponent := d.Coeff.MathBigInt(), d.Exponent
	if int64(exponent)+d.NumDigits() > maxIntegerDigits {
		return Number{}, errOverflow()
	}
	if d.Negative {
		digits = new(big.Int).Neg(digits)
	}
	if exponent < -math.MaxInt16*2 {
		return Number{scale: scale}, nil
	}
	if exponent > 0 {
		digits, exponent = new(big.Int).Mul(digits, pow10(exponent)), 0
	}
	return Number{unscaled: digits, scale: -exponent}.cut(int(scale), divideRounded), nil
}

func apdContext(digits int32) *apd.Context {
	return &apd.Context{Precision: uint32(max(digits, 1) + guard), MaxExponent: apd.MaxExponent, MinExponent: apd.MinExponent, Rounding: apd.RoundHalfUp}
}

// Exp returns e to the power of n.
func (n Number) Exp() (Number, error) {
	switch n.special {
	case notANumber, plusInfinity:
		return n, nil
	case minusInfinity:
		return Number{}, nil
	}
	f, _ := new(big.Float).SetString(n.String())
	v, _ := f.Float64()
	weight := min(max(v*log10e, -maxResultScale), maxResultScale)
	return n.exp(displayScale(minSignificant-int32(weight), n.scale), v)
}

// exp returns e^n with the given scale. v is approximately n.
func (n Number) exp(scale int32, v float64) (Number, error) {
	switch {
	case v > 3*maxResultScale && v*log10e > maxResultScale:
		return Number{}, errOverflow()
	case v < -3*maxResultScale:
		return Number{scale: scale}, nil
	}
	result := new(apd.Decimal)
	if _, err := apdContext(scale+int32(v*log10e)+1).Exp(result, n.decimal()); err != nil {
		return Number{}, errOverflow()
	}
	return fromDecimal(result, scale)
}

// Ln returns the natural logarithm.
func (n Number) Ln() (Number, error) {
	if err := n.checkLog(); err != nil {
		return Number{}, err
	}
	if n.special != finite {
		return n, nil
	}
	return n.ln(displayScale(minSignificant-n.lnWeight(), n.scale))
}

func (n Number) checkLog() error {
	switch {
	case n.IsNaN():
		return nil
	case n.Sign() < 0:
		return pgerror.New(invalidLogarithm, "cannot take logarithm of a negative number")
	case n.Sign() == 0:
		return pgerror.New(invalidLogarithm, "cannot take logarithm of zero")
	}
	return nil
}

func (n Number) ln(scale int32) (Number, error) {
	result := new(apd.Decimal)
	if _, err := apdContext(scale+max(n.lnWeight(), 0)+1).Ln(result, n.decimal()); err != nil {
		return Number{}, errOverflow()
	}
	return fromDecimal(result, scale)
}

// lnWeight estimates the decimal weight of the logarithm, like PostgreSQL's estimate_ln_dweight.
func (n Number) lnWeight() int32 {
	if n.Sign() <= 0 {
		return 0
	}
	nearlyOne := Number{unscaled: big.NewInt(9), scale: 1}.Cmp(n) <= 0 && Number{unscaled: big.NewInt(11), scale: 1}.Cmp(n) >= 0
	if nearlyOne {
		off, _ := n.Sub(FromInt(1))
		if off.Sign() == 0 {
			return 0
		}
		weight, first := off.leading()
		return weight*baseDigits + int32(math.Log10(float64(first)))
	}
	weight, first := n.leading()
	digits, dweight := first, weight*baseDigits
	if second, ok := n.secondDigit(); ok {
		digits = first*10000 + second
		dweight -= baseDigits
	}
	estimate := math.Log(float64(digits)) + float64(dweight)*math.Ln10
	return int32(math.Log10(math.Abs(estimate)))
}

// secondDigit returns the second base-10,000 digit. ok is false if all digits after the first are
// zero.
func (n Number) secondDigit() (int64, bool) {
	weight, first := n.leading()
	lead := Number{unscaled: new(big.Int).Mul(big.NewInt(first), pow10(max(weight*baseDigits, 0))), scale: max(-weight*baseDigits, 0)}
	rest, _ := n.Abs().Sub(lead)
	if rest.Sign() == 0 {
		return 0, false
	}
	next, digit := rest.leading()
	if next < weight-1 {
		return 0, true
	}
	return digit, true
}

// Log returns the logarithm of n to a base.
func (n Number) Log(base Number) (Number, error) {
	if n.IsNaN() || base.IsNaN() {
		return NaN, nil
	}
	operands := []Number{base, n}
	if (n.IsInf() || base.IsInf()) && n.Sign() < 0 { // in this case PostgreSQL checks n first
		operands = []Number{n, base}
	}
	for _, v := range operands {
		if err := v.checkLog(); err != nil {
			return Number{}, err
		}
	}
	switch {
	case n.IsInf() && base.IsInf():
		return NaN, nil
	case n.IsInf():
		return n, nil
	case base.IsInf():
		return Number{}, nil
	}
	baseWeight, weight := base.lnWeight(), n.lnWeight()
	scale := displayScale(minSignificant-(weight-baseWeight), base.scale, n.scale)
	working := scale + max(weight, 0) + max(-baseWeight, 0) + guard
	lnBase, err := base.ln(working - min(baseWeight, 0)*2)
	if err != nil {
		return Number{}, err
	}
	if lnBase.Sign() == 0 {
		return Number{}, pgerror.DividedByZero()
	}
	lnN, err := n.ln(working - min(baseWeight, 0)*2)
	if err != nil {
		return Number{}, err
	}
	return lnN.quotient(lnBase, scale), nil
}
