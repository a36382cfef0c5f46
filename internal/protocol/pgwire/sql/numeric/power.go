package numeric

import (
	"math"
	"math/big"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// Power returns n to the power of e.
func (n Number) Power(e Number) (Number, error) {
	if n.special != finite || e.special != finite {
		return n.specialPower(e)
	}
	if n.Sign() == 0 && e.Sign() < 0 {
		return Number{}, pgerror.New(invalidPower, "zero raised to a negative power is undefined")
	}
	if n.Sign() < 0 && !e.IsInteger() {
		return Number{}, errComplexPower()
	}
	if e.IsInteger() {
		if i := e.Round(0).int(); i.IsInt64() && i.Int64() >= math.MinInt32 && i.Int64() <= math.MaxInt32 {
			return n.powerInt(int(i.Int64()), displayScale(minSignificant, n.scale))
		}
	}
	if n.Sign() == 0 {
		return Number{scale: minSignificant}, nil
	}
	result, err := n.Abs().powerFraction(e)
	if n.Sign() < 0 && e.Round(0).int().Bit(0) == 1 {
		result = result.Neg()
	}
	return result, err
}

func errComplexPower() error {
	return pgerror.New(invalidPower, "a negative number raised to a non-integer power yields a complex result")
}

// specialPower follows the POSIX rules for pow().
func (n Number) specialPower(e Number) (Number, error) {
	one := FromInt(1)
	switch {
	case e.special == finite && e.Sign() == 0, n.Cmp(one) == 0:
		return one, nil
	case n.IsNaN() || e.IsNaN():
		return NaN, nil
	case e.IsInf():
		switch size := n.Abs().Cmp(one); {
		case size == 0:
			return one, nil
		case size > 0 == (e.Sign() > 0):
			return Infinity, nil
		case n.Sign() == 0 && e.Sign() < 0:
			return Number{}, pgerror.New(invalidPower, "zero raised to a negative power is undefined")
		}
		return Number{}, nil
	case e.Sign() < 0:
		return Number{}, nil
	case n.Sign() > 0:
		return Infinity, nil
	case !e.IsInteger():
		return Number{}, errComplexPower()
	case e.Round(0).int().Bit(0) == 1:
		return NegInfinity, nil
	}
	return Infinity, nil
}

// powerInt raises n to an integer power, rounded to a scale. Intermediate results have more digits
// than the result.
func (n Number) powerInt(e int, scale int32) (Number, error) {
	if n.Sign() == 0 {
		if e == 0 {
			return FromInt(1).Round(int(scale)), nil
		}
		return Number{scale: scale}, nil
	}
	weight := n.log10() * float64(e) // of the result
	switch {
	case weight > maxIntegerDigits+10:
		return Number{}, errOverflow()
	case weight+1 < float64(-scale):
		return Number{scale: scale}, nil
	}
	keep := int32(max(weight, 0)) + scale + guard + int32(math.Log10(math.Abs(float64(e))+1))
	result, err := significant{n.int(), n.scale}.power(uint32(max(e, -e)), keep)
	if err != nil {
		return Number{}, err
	}
	return result.numeric(e < 0, scale)
}

// log10 approximates the decimal logarithm of the absolute value of n.
func (n Number) log10() float64 {
	const enough = 17 // digits of a float64
	lead, exponent := new(big.Int).Abs(n.int()), -n.scale
	if more := n.digits() - enough; more > 0 {
		lead.Quo(lead, pow10(more))
		exponent += more
	}
	return math.Log10(float64(lead.Int64())) + float64(exponent)
}

// significant is a decimal of limited precision. Its scale may be negative.
type significant struct {
	unscaled *big.Int
	scale    int32
}

func (s significant) mul(b significant, keep int32) significant {
	product := Number{unscaled: new(big.Int).Mul(s.unscaled, b.unscaled)}
	scale := s.scale + b.scale
	if extra := product.digits() - keep; extra > 0 {
		return significant{divideRounded(product.unscaled, pow10(extra)), scale - extra}
	}
	return significant{product.unscaled, scale}
}

func (s significant) power(e uint32, keep int32) (significant, error) {
	result := significant{one, 0}
	for ; e > 0; e >>= 1 {
		if e&1 == 1 {
			result = result.mul(s, keep)
		}
		if s = s.mul(s, keep); s.scale > math.MaxInt32/4 || s.scale < -math.MaxInt32/4 {
			return result, errOverflow()
		}
	}
	return result, nil
}

func (s significant) numeric(invert bool, scale int32) (Number, error) {
	if invert {
		// 1 / (u / 10^s) = 10^s / u
		if shift := s.scale + scale; shift < 0 {
			return Number{scale: scale}, nil
		}
		return Number{unscaled: divideRounded(pow10(s.scale+scale), s.unscaled), scale: scale}.check()
	}
	if s.scale < 0 {
		if -s.scale > maxIntegerDigits {
			return Number{}, errOverflow()
		}
		s = significant{new(big.Int).Mul(s.unscaled, pow10(-s.scale)), 0}
	}
	if cut := s.scale - scale; cut > 0 && int64(cut) > int64(Number{unscaled: s.unscaled}.digits())+1 {
		return Number{scale: scale}, nil
	}
	return Number{unscaled: s.unscaled, scale: s.scale}.cut(int(scale), divideRounded).check()
}

// powerFraction computes exp(e * ln(n)) for positive n.
func (n Number) powerFraction(e Number) (Number, error) {
	coarse := displayScale(8 - n.lnWeight())
	rough, err := n.ln(coarse)
	if err != nil {
		return Number{}, err
	}
	product, _ := rough.Mul(e)
	product = product.Round(int(coarse)) // as in PostgreSQL: the scale of the result depends on it
	v, err := product.Float64()
	if err != nil {
		v = math.Inf(product.Sign())
	}
	if math.Abs(v) > maxResultScale*3.01 {
		if v > 0 {
			return Number{}, errOverflow()
		}
		return Number{scale: maxDisplayScale}, nil
	}
	weight := int32(v * log10e)
	scale := displayScale(minSignificant-weight, n.scale, e.scale)
	ln, err := n.ln(max(scale+weight, 0) + guard + e.digits())
	if err != nil {
		return Number{}, err
	}
	if product, err = ln.Mul(e); err != nil {
		return Number{}, err
	}
	return product.exp(scale, v)
}
