package policies

import (
	"encoding/json"
	"math"
	"math/big"
	"slices"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/declareargs"
)

// Bounds of numbers here; RabbitMQ has none.
const (
	maxNumber = math.MaxInt64
	maxTimer  = 1 << 52 // ms; sums of such times stay in range
)

// whole returns a JSON number without fraction and exponent.
func whole(v any) (*big.Int, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return nil, false
	}
	return new(big.Int).SetString(n.String(), 10)
}

// integer returns a valid number, limited to most.
func integer(v any, most int64) int64 {
	n, _ := whole(v)
	if !n.IsInt64() {
		return most
	}
	return min(n.Int64(), most)
}

func natural(v any) bool {
	n, ok := whole(v)
	return ok && n.Sign() >= 0
}

func positive(v any) bool {
	n, ok := whole(v)
	return ok && n.Sign() > 0
}

func oneOrTwo(v any) bool { return v == json.Number("1") || v == json.Number("2") }

// segment reports whether v is a valid segment size of a stream, at most 3 GB.
func segment(v any) bool { return natural(v) && integer(v, maxNumber) <= 3_000_000_000 }

func age(v any) bool {
	s, _ := v.(string)
	_, ok := declareargs.Age(s)
	return ok
}

func text(v any) bool {
	_, ok := v.(string)
	return ok
}

// name reports whether v can be the name of an exchange or a routing key.
func name(v any) bool {
	s, ok := v.(string)
	return ok && len(s) <= message.MaxShortStr
}

func word(words ...string) func(any) bool {
	return func(v any) bool {
		s, ok := v.(string)
		return ok && slices.Contains(words, s)
	}
}

// smaller returns the smaller of two valid numbers.
func smaller(policy, operator any) any {
	p, _ := whole(policy)
	o, _ := whole(operator)
	if p.Cmp(o) < 0 {
		return policy
	}
	return operator
}
