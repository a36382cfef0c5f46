package number

import (
	"fmt"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/numeric"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

type number = numeric.Number

func numeric2(op func(a, b number) (number, error)) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		return value.Result(op(a[0].(number), a[1].(number)))
	}
}

func numeric1(op func(a number) number) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) { return op(a[0].(number)), nil }
}

func numericTry(op func(a number) (number, error)) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) { return value.Result(op(a[0].(number))) }
}

func numericRound(op func(n number, digits int) number) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		digits := int64(0)
		if len(a) > 1 {
			digits = a[1].(int64)
		}
		return op(a[0].(number), int(digits)), nil
	}
}

// numericGCD uses Euclid's algorithm. The scale of the result is the greater of the two scales.
func numericGCD(a, b number) (number, error) {
	if a.IsSpecial() || b.IsSpecial() {
		return numeric.NaN, nil
	}
	scale := max(a.Scale(), b.Scale())
	for b.Sign() != 0 {
		r, err := a.Mod(b)
		if err != nil {
			return number{}, err
		}
		a, b = b, r
	}
	return a.Abs().Round(scale), nil
}

func numericLCM(a, b number) (number, error) {
	if a.IsSpecial() || b.IsSpecial() {
		return numeric.NaN, nil
	}
	scale := max(a.Scale(), b.Scale())
	if a.Sign() == 0 || b.Sign() == 0 {
		return numeric.FromInt(0).Round(scale), nil
	}
	g, err := numericGCD(a, b)
	if err != nil {
		return number{}, err
	}
	q, err := a.QuoInt(g)
	if err != nil {
		return number{}, err
	}
	p, err := q.Mul(b)
	return p.Abs().Round(scale), err
}

func numericSign(n number) number {
	if n.IsNaN() {
		return n
	}
	return numeric.FromInt(int64(n.Sign()))
}

// maxFactorial is the largest number whose factorial fits in a numeric.
const maxFactorial = 32177

func factorial(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	n := a[0].(int64)
	if n < 0 {
		return nil, pgerror.New(pgerror.NumericOutOfRange, "factorial of a negative number is undefined")
	}
	if n > maxFactorial {
		return nil, pgerror.New(pgerror.NumericOutOfRange, "value overflows numeric format")
	}
	product := numeric.FromInt(1)
	for i := int64(2); i <= n; i++ {
		var err error
		if product, err = product.Mul(numeric.FromInt(i)); err != nil {
			return nil, err
		}
	}
	return product, nil
}

func widthBucketNumeric(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	operand, low, high, count := a[0].(number), a[1].(number), a[2].(number), a[3].(int64)
	switch {
	case count <= 0:
		return nil, pgerror.New(widthBucketError, "count must be greater than zero")
	case operand.IsNaN() || low.IsNaN() || high.IsNaN():
		return nil, pgerror.New(widthBucketError, "operand, lower bound, and upper bound cannot be NaN")
	case low.IsInf() || high.IsInf():
		return nil, pgerror.New(widthBucketError, "lower and upper bounds must be finite")
	}
	order := low.Cmp(high)
	switch {
	case order == 0:
		return nil, pgerror.New(widthBucketError, "lower bound cannot equal upper bound")
	case order < 0 && operand.Cmp(low) < 0, order > 0 && operand.Cmp(low) > 0:
		return int64(0), nil
	case order < 0 && operand.Cmp(high) >= 0, order > 0 && operand.Cmp(high) <= 0:
		return bucketAfter(count)
	}
	offset, err := operand.Sub(low)
	if err != nil {
		return nil, err
	}
	width, err := high.Sub(low)
	if err != nil {
		return nil, err
	}
	scaled, err := offset.Mul(numeric.FromInt(count))
	if err != nil {
		return nil, err
	}
	q, err := scaled.QuoInt(width)
	if err != nil {
		return nil, err
	}
	n, err := value.ToInt(q, value.Int4)
	if err != nil {
		return nil, err
	}
	return n + 1, nil
}

// widthBucketError is the SQLSTATE of invalid arguments of width_bucket.
const widthBucketError = "2201G"

func bucketAfter(count int64) (value.Datum, error) {
	if !value.FitsInt(value.Int4, count+1) {
		return nil, value.ErrOutOfRange(value.Int4)
	}
	return count + 1, nil
}

func widthBucketFloat(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	operand, low, high, count := a[0].(float64), a[1].(float64), a[2].(float64), a[3].(int64)
	inf := func(f float64) bool { return f-f != 0 }
	switch {
	case count <= 0:
		return nil, pgerror.New(widthBucketError, "count must be greater than zero")
	case operand != operand || low != low || high != high:
		return nil, pgerror.New(widthBucketError, "operand, lower bound, and upper bound cannot be NaN")
	case inf(low) || inf(high):
		return nil, pgerror.New(widthBucketError, "lower and upper bounds must be finite")
	case low == high:
		return nil, pgerror.New(widthBucketError, "lower bound cannot equal upper bound")
	case low < high && operand < low, low > high && operand > low:
		return int64(0), nil
	case low < high && operand >= high, low > high && operand <= high:
		return bucketAfter(count)
	}
	fraction := (operand - low) / (high - low)
	if inf(high - low) {
		fraction = (operand/2 - low/2) / (high/2 - low/2)
	}
	n := int64(float64(count) * fraction)
	return min(n, count-1) + 1, nil
}

func toHex(bits int) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		n := uint64(a[0].(int64))
		if bits == 32 {
			n = uint64(uint32(n))
		}
		return fmt.Sprintf("%x", n), nil
	}
}

func addNumerics(to expr.Table) {
	to.Calls(map[string]expr.CallFunc{
		"numeric_add": numeric2(number.Add), "numeric_sub": numeric2(number.Sub), "numeric_mul": numeric2(number.Mul),
		"numeric_div": numeric2(number.Div), "numeric_mod": numeric2(number.Mod), "numeric_div_trunc": numeric2(number.QuoInt),
		"numeric_power": numeric2(number.Power), "numeric_gcd": numeric2(numericGCD), "numeric_lcm": numeric2(numericLCM),
		"numeric_log": numeric2(func(base, n number) (number, error) { return n.Log(base) }),
		"numeric_abs": numeric1(number.Abs), "numeric_uminus": numeric1(number.Neg), "numeric_uplus": same,
		"numeric_ceil": numeric1(number.Ceil), "numeric_floor": numeric1(number.Floor), "numeric_sign": numeric1(numericSign),
		"numeric_trim_scale": numeric1(number.TrimScale),
		"numeric_sqrt":       numericTry(number.Sqrt), "numeric_exp": numericTry(number.Exp), "numeric_ln": numericTry(number.Ln),
		"log(numeric)":   numericTry(func(n number) (number, error) { return n.Log(numeric.FromInt(10)) }),
		"log10(numeric)": numericTry(func(n number) (number, error) { return n.Log(numeric.FromInt(10)) }),
		"numeric_round":  numericRound(number.Round), "round(numeric)": numericRound(number.Round),
		"numeric_trunc": numericRound(number.Trunc), "trunc(numeric)": numericRound(number.Trunc),
		"numeric_scale": func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
			if a[0].(number).IsSpecial() {
				return nil, nil
			}
			return int64(a[0].(number).Scale()), nil
		},
		"numeric_min_scale": func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
			if a[0].(number).IsSpecial() {
				return nil, nil
			}
			return int64(a[0].(number).MinScale()), nil
		},
		"numeric_fac": factorial, "width_bucket_numeric": widthBucketNumeric, "width_bucket_float8": widthBucketFloat,
		"to_hex32": toHex(32), "to_hex64": toHex(64),
		"numeric": func(env *expr.Env, a []value.Datum) (value.Datum, error) {
			return value.Cast(value.NumericType, value.NumericType, a[0], int32(a[1].(int64)), true, &env.Settings)
		},
	})
}
