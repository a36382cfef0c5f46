package number

import (
	"fmt"
	"math"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// floatResult rounds v to the type t. It returns an error for an overflow to infinity unless infOK
// is set, and for an underflow to zero unless zeroOK is set.
func floatResult(t *value.Type, v float64, infOK, zeroOK bool) (value.Datum, error) {
	if t == value.Float4 {
		v = float64(float32(v))
	}
	if math.IsInf(v, 0) && !infOK {
		return nil, pgerror.New(pgerror.NumericOutOfRange, "value out of range: overflow")
	}
	if v == 0 && !zeroOK {
		return nil, pgerror.New(pgerror.NumericOutOfRange, "value out of range: underflow")
	}
	return v, nil
}

// arithmetic adds the four basic operations for a pair of float types.
func arithmetic(to expr.Table, name string, t *value.Type) {
	op := func(f func(x, y float64) (value.Datum, error)) expr.CallFunc {
		return func(_ *expr.Env, a []value.Datum) (value.Datum, error) { return f(a[0].(float64), a[1].(float64)) }
	}
	to.Calls(map[string]expr.CallFunc{
		name + "pl": op(func(x, y float64) (value.Datum, error) {
			return floatResult(t, x+y, math.IsInf(x, 0) || math.IsInf(y, 0), true)
		}),
		name + "mi": op(func(x, y float64) (value.Datum, error) {
			return floatResult(t, x-y, math.IsInf(x, 0) || math.IsInf(y, 0), true)
		}),
		name + "mul": op(func(x, y float64) (value.Datum, error) {
			return floatResult(t, x*y, math.IsInf(x, 0) || math.IsInf(y, 0), x == 0 || y == 0)
		}),
		name + "div": op(func(x, y float64) (value.Datum, error) {
			if y == 0 && !math.IsNaN(x) {
				return nil, pgerror.DividedByZero()
			}
			return floatResult(t, x/y, math.IsInf(x, 0), x == 0 || math.IsInf(y, 0))
		}),
	})
}

// float1 adapts a function of one float that can neither overflow nor fail.
func float1(f func(float64) float64) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) { return f(a[0].(float64)), nil }
}

func errInput() error { return pgerror.New(pgerror.NumericOutOfRange, "input is out of range") }

// within adapts a function that is defined only from low to high.
func within(low, high float64, f func(float64) float64) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		x := a[0].(float64)
		if math.IsNaN(x) {
			return x, nil
		}
		if x < low || x > high {
			return nil, errInput()
		}
		return f(x), nil
	}
}

// finite adapts a function that is not defined for infinities.
func finite(f func(float64) float64) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		x := a[0].(float64)
		if math.IsInf(x, 0) {
			return nil, errInput()
		}
		return floatResult(value.Float8, f(x), math.IsNaN(x), true)
	}
}

// log10 is exact for powers of ten, which math.Log10 is not.
func log10(x float64) float64 {
	l := math.Log10(x)
	if whole := math.Round(l); math.Pow10(int(whole)) == x {
		return whole
	}
	return l
}

func floatLog(f func(float64) float64) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		x := a[0].(float64)
		switch {
		case x == 0:
			return nil, pgerror.New(logError, "cannot take logarithm of zero")
		case x < 0:
			return nil, pgerror.New(logError, "cannot take logarithm of a negative number")
		}
		return floatResult(value.Float8, f(x), math.IsInf(x, 0), x == 1)
	}
}

// SQLSTATEs of undefined logarithms and powers.
const (
	logError   = "2201E"
	powerError = "2201F"
)

func floatSqrt(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	x := a[0].(float64)
	if x < 0 {
		return nil, pgerror.New(powerError, "cannot take square root of a negative number")
	}
	return math.Sqrt(x), nil
}

func floatExp(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	x := a[0].(float64)
	switch {
	case math.IsNaN(x), math.IsInf(x, 1):
		return x, nil
	case math.IsInf(x, -1):
		return 0.0, nil
	}
	return floatResult(value.Float8, math.Exp(x), false, false)
}

// floatPower implements dpow: C's pow with errors.
func floatPower(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	x, y := a[0].(float64), a[1].(float64)
	switch {
	case math.IsNaN(x):
		if y == 0 {
			return 1.0, nil
		}
		return math.NaN(), nil
	case math.IsNaN(y):
		if x == 1 {
			return 1.0, nil
		}
		return math.NaN(), nil
	case x == 0 && y < 0:
		return nil, pgerror.New(powerError, "zero raised to a negative power is undefined")
	case x < 0 && math.Floor(y) != y:
		return nil, pgerror.New(powerError, "a negative number raised to a non-integer power yields a complex result")
	}
	infinite := math.IsInf(x, 0) || math.IsInf(y, 0)
	return floatResult(value.Float8, math.Pow(x, y), infinite, infinite || x == 0)
}

func floatSign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0 // also for NaN
}

func degrees(x float64) float64 { return x / (math.Pi / 180) }
func radians(x float64) float64 { return x * (math.Pi / 180) }

func float2(f func(x, y float64) float64) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) { return f(a[0].(float64), a[1].(float64)), nil }
}

// FloatDigits formats like C's %.*f.
func FloatDigits(v float64, digits int) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	}
	return fmt.Sprintf("%.*f", digits, v)
}

func addFloats(to expr.Table) {
	arithmetic(to, "float4", value.Float4)
	for _, name := range []string{"float8", "float48", "float84"} {
		arithmetic(to, name, value.Float8)
	}
	negate := float1(func(x float64) float64 { return -x })
	to.Calls(map[string]expr.CallFunc{
		"float4um": negate, "float8um": negate, "float4up": same, "float8up": same, "float4abs": float1(math.Abs), "float8abs": float1(math.Abs),
		"dceil": float1(math.Ceil), "dfloor": float1(math.Floor), "dround": float1(math.RoundToEven), "dtrunc": float1(math.Trunc),
		"dsign": float1(floatSign), "dsqrt": floatSqrt, "dcbrt": float1(math.Cbrt), "dpow": floatPower, "dexp": floatExp,
		"dlog1": floatLog(math.Log), "dlog10": floatLog(log10),
		"dacos": within(-1, 1, math.Acos), "dasin": within(-1, 1, math.Asin), "datan": float1(math.Atan), "datan2": float2(math.Atan2),
		"dcos": finite(math.Cos), "dsin": finite(math.Sin), "dtan": finite(math.Tan),
		"dcot":  finite(func(x float64) float64 { return 1 / math.Tan(x) }),
		"dsinh": float1(math.Sinh), "dcosh": float1(math.Cosh), "dtanh": float1(math.Tanh), "dasinh": float1(math.Asinh),
		"dacosh": within(1, math.Inf(1), math.Acosh), "datanh": within(-1, 1, math.Atanh),
		"degrees": float1(degrees), "radians": float1(radians),
		"dpi": func(*expr.Env, []value.Datum) (value.Datum, error) { return math.Pi, nil },
	})
}
