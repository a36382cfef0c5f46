package selector

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"fiveways.dev/fiveways/internal/core/message"
)

// expr is a condition or operand as text, with a naive evaluator that returns its value for decoded
// headers: nil (NULL), bool, int64, float64, string, or anything else (not comparable).
type expr struct {
	text string
	eval func(h message.Table) any
}

func naiveHeader(name string) expr {
	return expr{name, func(h message.Table) any {
		v, _ := h.Get(name)
		if i, ok := message.Int(v); ok {
			return i
		}
		return v
	}}
}

// exactly converts a number to a fraction without rounding; infinity becomes larger than any float.
func exactly(v any) *big.Rat {
	switch v := v.(type) {
	case int64:
		return new(big.Rat).SetInt64(v)
	case float64:
		if math.IsInf(v, 0) {
			beyond := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 2000))
			return beyond.Mul(beyond, new(big.Rat).SetInt64(int64(math.Copysign(1, v))))
		}
		return new(big.Rat).SetFloat64(v)
	}
	return nil
}

// naiveOrder compares two values; ok is false if they cannot be compared.
func naiveOrder(a, b any) (order int, ok bool) {
	if x, y := exactly(a), exactly(b); x != nil && y != nil {
		return x.Cmp(y), true
	}
	x, ok1 := a.(string)
	y, ok2 := b.(string)
	return strings.Compare(x, y), ok1 && ok2
}

func naiveCompare(op string, a, b any) any {
	if x, ok := a.(bool); ok {
		y, ok := b.(bool)
		if !ok || op != "=" && op != "<>" {
			return nil
		}
		return (x == y) == (op == "=")
	}
	c, ok := naiveOrder(a, b)
	if !ok {
		return nil
	}
	return map[string]bool{"=": c == 0, "<>": c != 0, "<": c < 0, ">": c > 0, "<=": c <= 0, ">=": c >= 0}[op]
}

func naiveNot(v any) any {
	if b, ok := v.(bool); ok {
		return !b
	}
	return nil
}

// naiveJoin is OR if decides is true, and AND if it is false.
func naiveJoin(decides bool, all []any) any {
	result := any(!decides)
	for _, v := range all {
		switch b, ok := v.(bool); {
		case ok && b == decides:
			return decides
		case !ok:
			result = nil
		}
	}
	return result
}

func naiveCalculate(op string, a, b any) any {
	x, y := exactly(a), exactly(b)
	if x == nil || y == nil || op == "/" && y.Sign() == 0 {
		return nil
	}
	i, ok1 := a.(int64)
	j, ok2 := b.(int64)
	if ok1 && ok2 {
		p, q := big.NewInt(i), big.NewInt(j)
		z := map[string]func() *big.Int{
			"+": func() *big.Int { return new(big.Int).Add(p, q) }, "-": func() *big.Int { return new(big.Int).Sub(p, q) },
			"*": func() *big.Int { return new(big.Int).Mul(p, q) }, "/": func() *big.Int { return new(big.Int).Quo(p, q) },
		}[op]()
		if !z.IsInt64() {
			return nil
		}
		return z.Int64()
	}
	float := func(v any) float64 {
		if i, ok := v.(int64); ok {
			return float64(i)
		}
		return v.(float64)
	}
	z := map[string]float64{
		"+": float(a) + float(b), "-": float(a) - float(b), "*": float(a) * float(b), "/": float(a) / float(b),
	}[op]
	if math.IsNaN(z) {
		return nil
	}
	return z
}

func naiveLike(pattern, s []rune) bool {
	switch {
	case len(pattern) == 0:
		return len(s) == 0
	case pattern[0] == '%':
		return naiveLike(pattern[1:], s) || len(s) > 0 && naiveLike(pattern, s[1:])
	case len(s) == 0:
		return false
	}
	return (pattern[0] == '_' || pattern[0] == s[0]) && naiveLike(pattern[1:], s[1:])
}

// drawn generates random expressions, with one method for each rule of the grammar.
type drawn struct{ *rapid.T }

func (d drawn) one(of ...string) string { return rapid.SampledFrom(of).Draw(d.T, "one") }

func (d drawn) keyword(k string) string {
	return " " + d.one(k, strings.ToLower(k), k[:1]+strings.ToLower(k[1:])) + d.one(" ", "\t\n ")
}

func (d drawn) joined(keyword string, part func(int) expr, depth int) expr {
	all := []expr{part(depth)}
	for rapid.IntRange(0, 2).Draw(d.T, "more") == 0 && depth > 0 {
		all = append(all, part(depth-1))
	}
	text := all[0].text
	for _, e := range all[1:] {
		text += d.keyword(keyword) + e.text
	}
	if len(all) == 1 {
		return all[0]
	}
	return expr{text, func(h message.Table) any {
		var values []any
		for _, e := range all {
			values = append(values, e.eval(h))
		}
		return naiveJoin(keyword == "OR", values)
	}}
}

func (d drawn) or(depth int) expr { return d.joined("OR", d.and, depth) }

func (d drawn) and(depth int) expr { return d.joined("AND", d.not, depth) }

func (d drawn) not(depth int) expr {
	if depth > 0 && rapid.IntRange(0, 3).Draw(d.T, "not") == 0 {
		e := d.not(depth - 1)
		return expr{"NOT " + e.text, func(h message.Table) any { return naiveNot(e.eval(h)) }}
	}
	return d.predicate(depth)
}

func (d drawn) predicate(depth int) expr {
	if depth > 0 && rapid.IntRange(0, 4).Draw(d.T, "parentheses") == 0 {
		e := d.or(depth - 1)
		return expr{"(" + e.text + ")", func(h message.Table) any { return naiveTruth(e.eval(h)) }}
	}
	x := d.sum(depth)
	negated := rapid.Bool().Draw(d.T, "negated")
	maybe := func(e expr) expr {
		if !negated {
			return expr{x.text + e.text, e.eval}
		}
		return expr{x.text + d.keyword("NOT") + e.text, func(h message.Table) any { return naiveNot(e.eval(h)) }}
	}
	switch rapid.IntRange(0, 6).Draw(d.T, "predicate") {
	case 0:
		if negated {
			return expr{x.text + " IS NOT NULL", func(h message.Table) any { return x.eval(h) != nil }}
		}
		return expr{x.text + " is null", func(h message.Table) any { return x.eval(h) == nil }}
	case 1:
		low, high := d.sum(depth-1), d.sum(depth-1)
		return maybe(expr{d.keyword("BETWEEN") + low.text + d.keyword("AND") + high.text, func(h message.Table) any {
			v := x.eval(h)
			return naiveJoin(false, []any{naiveCompare(">=", v, low.eval(h)), naiveCompare("<=", v, high.eval(h))})
		}})
	case 2:
		return maybe(d.in(x))
	case 3:
		pattern := d.one("a", "a%", "%b", "%a%b%", "_", "__", "%_", "a_%", "", "%")
		return maybe(expr{d.keyword("LIKE") + "'" + pattern + "'", func(h message.Table) any {
			s, ok := x.eval(h).(string)
			if !ok {
				return nil
			}
			return naiveLike([]rune(pattern), []rune(s))
		}})
	}
	op, y := d.one("=", "<>", "<", ">", "<=", ">="), d.sum(depth-1)
	return expr{x.text + d.one("", " ") + op + y.text, func(h message.Table) any { return naiveCompare(op, x.eval(h), y.eval(h)) }}
}

func naiveTruth(v any) any {
	if b, ok := v.(bool); ok {
		return b
	}
	return nil
}

func (d drawn) in(x expr) expr {
	literal := d.text
	if rapid.Bool().Draw(d.T, "numbers") {
		literal = d.number
	}
	list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) expr { return literal() }), 1, 4).Draw(d.T, "list")
	var texts []string
	for _, e := range list {
		texts = append(texts, e.text)
	}
	return expr{d.keyword("IN") + "(" + strings.Join(texts, ", ") + ")", func(h message.Table) any {
		var equal []any
		for _, e := range list {
			equal = append(equal, naiveCompare("=", x.eval(h), e.eval(h)))
		}
		return naiveJoin(true, equal)
	}}
}

// sum draws operands. It does not use text in arithmetic, which would not compile.
func (d drawn) sum(depth int) expr {
	return d.calculated(depth, []string{"+", "-"}, func(depth int) expr {
		return d.calculated(depth, []string{"*", "/"}, d.operand)
	})
}

func (d drawn) calculated(depth int, ops []string, part func(int) expr) expr {
	e := part(depth)
	for depth > 0 && rapid.IntRange(0, 4).Draw(d.T, "calculate") == 0 && !notNumber(e) {
		op, left, right := d.one(ops...), e, part(depth-1)
		if notNumber(right) {
			break
		}
		e = expr{left.text + op + " " + right.text, func(h message.Table) any { return naiveCalculate(op, left.eval(h), right.eval(h)) }}
	}
	return e
}

// notNumber reports whether e is a literal, possibly in parentheses, that cannot be used in
// arithmetic.
func notNumber(e expr) bool {
	text := strings.TrimLeft(e.text, "(")
	return strings.HasPrefix(text, "'") || strings.HasPrefix(text, "TRUE")
}

func (d drawn) operand(depth int) expr {
	switch rapid.IntRange(0, 9).Draw(d.T, "operand") {
	case 0:
		return d.text()
	case 1:
		return expr{"TRUE", func(message.Table) any { return true }}
	case 2:
		return d.number()
	case 3:
		if depth > 0 {
			e := d.sum(depth - 1)
			return expr{"(" + e.text + ")", e.eval}
		}
	case 4:
		name := naiveHeader(d.one("a", "b", "c"))
		return expr{"-" + name.text, func(h message.Table) any { return naiveCalculate("-", int64(0), name.eval(h)) }}
	}
	return naiveHeader(d.one("a", "b", "c"))
}

func (d drawn) text() expr {
	s := d.one("", "a", "ab", "b", "ä", "it''s")
	return expr{"'" + s + "'", func(message.Table) any { return strings.ReplaceAll(s, "''", "'") }}
}

func (d drawn) number() expr {
	if rapid.Bool().Draw(d.T, "float") {
		f := rapid.SampledFrom([]float64{0, 0.5, 1, 2, 9007199254740992, 9223372036854775808, 1e300}).Draw(d.T, "float")
		return expr{fmt.Sprintf("%.1f", f), func(message.Table) any { return f }}
	}
	i := rapid.SampledFrom(integers).Draw(d.T, "integer")
	return expr{fmt.Sprint(i), func(message.Table) any { return i }}
}

var integers = []int64{0, 1, 2, -1, -7, 9007199254740993, math.MaxInt64, math.MinInt64}

func (d drawn) headers() (h message.Table) {
	values := []any{nil, "a", "ab", "ä", "b", "", true, false, 0.5, -2.0, 9007199254740992.0, 1e300, int8(1), uint16(2), message.Table{}}
	for _, i := range integers {
		values = append(values, i)
	}
	for _, name := range []string{"x", "a", "b", "c"} {
		if rapid.IntRange(0, 4).Draw(d.T, "has "+name) > 0 {
			h = append(h, message.Field{Name: name, Value: rapid.SampledFrom(values).Draw(d.T, name)})
		}
	}
	return h
}

// TestTwin compares with the naive evaluator.
func TestTwin(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		d := drawn{rt}
		e := d.or(4)
		s, err := Compile(e.text)
		if err != nil {
			if strings.Contains(err.Error(), "expected a condition, got a value") {
				rt.Skip("no condition")
			}
			rt.Fatalf("%s: %v", e.text, err)
		}
		for range 4 {
			h := d.headers()
			props := message.Properties{Flags: message.HasHeaders, Headers: h}
			want := unknown
			if b, ok := e.eval(h).(bool); ok {
				want = truthOf(b)
			}
			if got := s.root.test(&view{m: Message{Props: props.Append(nil)}}); got != want {
				rt.Fatalf("%s with %v: %d, want %d", e.text, h, got, want)
			}
		}
	})
}

// TestLikeTwin tests patterns that almost match.
func TestLikeTwin(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		pattern := rapid.StringOfN(rapid.SampledFrom([]rune("abä%%_")), 0, 12, -1).Draw(rt, "pattern")
		s := rapid.StringOfN(rapid.SampledFrom([]rune("abä")), 0, 12, -1).Draw(rt, "text")
		pieces, problem := splitPattern(pattern, 0)
		if got, want := like(pieces, s), naiveLike([]rune(pattern), []rune(s)); problem != "" || got != want {
			rt.Fatalf("%q LIKE %q: %v, want %v (%s)", s, pattern, got, want, problem)
		}
	})
}
