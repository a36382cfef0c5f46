package selector

import (
	"cmp"
	"math"
)

// truth is the result of a condition. AND is the minimum of its parts, OR the maximum, and NOT the
// negation.
type truth int8

const (
	no      truth = -1
	unknown truth = 0
	yes     truth = 1
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// kind is the type of a value.
type kind uint8

const (
	null    kind = iota // NULL or unknown
	other               // a value that cannot be compared: a table, an array, NaN
	boolean             // num is 0 or 1
	integer             // num is an int64
	float               // num is the bits of a float64, not NaN
	str
)

// value is an operand during evaluation. Values of one kind are equal if and only if they are ==,
// except for the two zeros of floats.
type value struct {
	kind kind
	num  uint64
	str  string // may be a view of the message
}

func intValue(i int64) value   { return value{kind: integer, num: uint64(i)} }
func strValue(s string) value  { return value{kind: str, str: s} }
func (v value) float() float64 { return math.Float64frombits(v.num) }
func (v value) number() bool   { return v.kind == integer || v.kind == float }

func boolValue(b bool) value {
	if b {
		return value{kind: boolean, num: 1}
	}
	return value{kind: boolean}
}

// floatValue returns f, or a value of kind nan if f is NaN.
func floatValue(f float64, nan kind) value {
	if math.IsNaN(f) {
		return value{kind: nan}
	}
	return value{kind: float, num: math.Float64bits(f)}
}

// truth returns the truth of a value used as a condition.
func (v value) truth() truth {
	if v.kind != boolean {
		return unknown
	}
	return truthOf(v.num == 1)
}

// asFloat converts a number to a float; large integers are rounded.
func (v value) asFloat() float64 {
	if v.kind == integer {
		return float64(int64(v.num))
	}
	return v.float()
}

// canonical converts equal numbers to the same value: whole floats that fit become integers.
func (v value) canonical() value {
	if v.kind == float {
		if f := v.float(); f == math.Trunc(f) && f >= -1<<63 && f < 1<<63 {
			return intValue(int64(f))
		}
	}
	return v
}

// compare orders two values; ok is false if they cannot be compared.
func compare(a, b value) (order int, ok bool) {
	switch {
	case a.kind == str && b.kind == str:
		return cmp.Compare(a.str, b.str), true
	case a.kind == integer && b.kind == integer:
		return cmp.Compare(int64(a.num), int64(b.num)), true
	case a.kind == float && b.kind == float:
		return cmp.Compare(a.float(), b.float()), true
	case a.kind == integer && b.kind == float:
		return compareMixed(int64(a.num), b.float()), true
	case a.kind == float && b.kind == integer:
		return -compareMixed(int64(b.num), a.float()), true
	case a.kind == boolean && b.kind == boolean:
		return cmp.Compare(a.num, b.num), true
	}
	return 0, false
}

// compareMixed compares exactly: an integer is never rounded to a float.
func compareMixed(i int64, f float64) int {
	switch {
	case f >= 1<<63:
		return -1
	case f < -1<<63:
		return 1
	}
	whole := math.Trunc(f)
	if c := cmp.Compare(i, int64(whole)); c != 0 {
		return c
	}
	return cmp.Compare(0, f-whole)
}

// calculate evaluates arithmetic: with integers if both are, otherwise with floats. The result is
// NULL if it is undefined.
func calculate(op op, a, b value) value {
	switch {
	case !a.number() || !b.number():
		return value{}
	case a.kind == integer && b.kind == integer:
		i, ok := calculateInt(op, int64(a.num), int64(b.num))
		if !ok {
			return value{}
		}
		return intValue(i)
	}
	x, y := a.asFloat(), b.asFloat()
	switch op {
	case opAdd:
		x += y
	case opSub:
		x -= y
	case opMul:
		x *= y
	default:
		if y == 0 {
			return value{}
		}
		x /= y
	}
	return floatValue(x, null)
}

// calculateInt returns false on overflow and on division by zero. Division truncates.
func calculateInt(op op, x, y int64) (z int64, ok bool) {
	switch op {
	case opAdd:
		z = x + y
		return z, (z > x) == (y > 0)
	case opSub:
		z = x - y
		return z, (z < x) == (y > 0)
	case opMul:
		if x == 0 || y == 0 {
			return 0, true
		}
		z = x * y
		return z, z/y == x && !(x == -1 && y == math.MinInt64) && !(y == -1 && x == math.MinInt64)
	}
	if y == 0 || x == math.MinInt64 && y == -1 {
		return 0, false
	}
	return x / y, true
}

// negate returns -v.
func negate(v value) value {
	switch v.kind {
	case integer:
		return calculate(opSub, intValue(0), v)
	case float:
		return floatValue(-v.float(), null)
	}
	return value{}
}
