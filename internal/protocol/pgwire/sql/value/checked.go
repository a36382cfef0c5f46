package value

import "math"

// AddInt returns a + b. ok is false if the result overflows 64 bits.
func AddInt(a, b int64) (result int64, ok bool) {
	s := a + b
	return s, (s > a) == (b > 0)
}

// SubInt returns a - b. ok is false if the result overflows 64 bits.
func SubInt(a, b int64) (result int64, ok bool) {
	d := a - b
	return d, (d < a) == (b > 0)
}

// MulInt returns a * b. ok is false if the result overflows 64 bits.
func MulInt(a, b int64) (result int64, ok bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	p := a * b
	return p, (p < 0) == ((a < 0) != (b < 0)) && p/b == a && !(a == -1 && b == math.MinInt64) && !(b == -1 && a == math.MinInt64)
}

// Result converts v to a Datum, which is nil if err is not nil.
func Result[T any](v T, err error) (Datum, error) {
	if err != nil {
		return nil, err
	}
	return v, nil
}
