package number

import (
	"math"
	"math/bits"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// intOp is an operation on integers. ok is false if the result exceeds 64 bits.
type intOp func(a, b int64) (result int64, ok bool)

func checked(t *value.Type, op intOp) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		v, ok := op(a[0].(int64), a[1].(int64))
		if !ok || !value.FitsInt(t, v) {
			return nil, value.ErrOutOfRange(t)
		}
		return v, nil
	}
}

func divide(t *value.Type) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		x, y := a[0].(int64), a[1].(int64)
		if y == 0 {
			return nil, pgerror.DividedByZero()
		}
		if y == -1 {
			if x == math.MinInt64 || !value.FitsInt(t, -x) {
				return nil, value.ErrOutOfRange(t)
			}
			return -x, nil
		}
		return x / y, nil
	}
}

func modulo(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	x, y := a[0].(int64), a[1].(int64)
	switch y {
	case 0:
		return nil, pgerror.DividedByZero()
	case -1:
		return int64(0), nil
	}
	return x % y, nil
}

// unaryInt adapts an operation on one integer and checks the result.
func unaryInt(t *value.Type, op func(int64) int64) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		x := a[0].(int64)
		v := op(x)
		if !value.FitsInt(t, v) || x == math.MinInt64 && v == x {
			return nil, value.ErrOutOfRange(t)
		}
		return v, nil
	}
}

func plainInt(op func(a, b int64) int64) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) { return op(a[0].(int64), a[1].(int64)), nil }
}

func same(_ *expr.Env, a []value.Datum) (value.Datum, error) { return a[0], nil }

func absInt(x int64) int64 {
	if x < 0 {
		return -x
	}
	return x
}

// gcd computes with magnitudes, so that it works for the minimum integer.
func gcd(a, b int64) uint64 {
	x, y := uint64(absInt(a)), uint64(absInt(b))
	for y != 0 {
		x, y = y, x%y
	}
	return x
}

func gcdOf(t *value.Type) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		g := gcd(a[0].(int64), a[1].(int64))
		if g > math.MaxInt64 || !value.FitsInt(t, int64(g)) {
			return nil, value.ErrOutOfRange(t)
		}
		return int64(g), nil
	}
}

func lcmOf(t *value.Type) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		x, y := a[0].(int64), a[1].(int64)
		if x == 0 || y == 0 {
			return int64(0), nil
		}
		g := gcd(x, y)
		high, low := bits.Mul64(uint64(absInt(x))/g, uint64(absInt(y)))
		if high != 0 || low > math.MaxInt64 || !value.FitsInt(t, int64(low)) {
			return nil, value.ErrOutOfRange(t)
		}
		return int64(low), nil
	}
}

// shift shifts bits. Only the low bits of the distance count, as on the hardware that PostgreSQL
// runs on.
func shift(t *value.Type, left bool) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
		x, n := a[0].(int64), uint64(a[1].(int64))
		switch {
		case t == value.Int8 && left:
			return x << (n & 63), nil
		case t == value.Int8:
			return x >> (n & 63), nil
		case left && t == value.Int2:
			return int64(int16(int32(x) << (n & 31))), nil
		case left:
			return int64(int32(x) << (n & 31)), nil
		}
		return int64(int32(x) >> (n & 31)), nil
	}
}

func addIntegers(to expr.Table) {
	for _, t := range []*value.Type{value.Int4, value.Int8} {
		to.Calls(map[string]expr.CallFunc{t.Name + "gcd": gcdOf(t), t.Name + "lcm": lcmOf(t)})
	}
	integers := map[string]*value.Type{"2": value.Int2, "4": value.Int4, "8": value.Int8}
	for a, left := range integers {
		for b, right := range integers {
			t := left
			if right.Len > left.Len {
				t = right
			}
			name := "int" + a + b
			if a == b {
				name = "int" + a
			}
			to.Calls(map[string]expr.CallFunc{
				name + "pl": checked(t, value.AddInt), name + "mi": checked(t, value.SubInt), name + "mul": checked(t, value.MulInt), name + "div": divide(t),
			})
		}
		n := "int" + a
		to.Calls(map[string]expr.CallFunc{
			n + "mod": modulo, n + "um": unaryInt(left, func(x int64) int64 { return -x }), n + "up": same,
			n + "abs": unaryInt(left, absInt),
			n + "and": plainInt(func(a, b int64) int64 { return a & b }), n + "or": plainInt(func(a, b int64) int64 { return a | b }),
			n + "xor": plainInt(func(a, b int64) int64 { return a ^ b }),
			n + "not": func(_ *expr.Env, a []value.Datum) (value.Datum, error) { return ^a[0].(int64), nil },
			n + "shl": shift(left, true), n + "shr": shift(left, false),
			n + "larger":  plainInt(func(a, b int64) int64 { return max(a, b) }),
			n + "smaller": plainInt(func(a, b int64) int64 { return min(a, b) }),
		})
	}
}
