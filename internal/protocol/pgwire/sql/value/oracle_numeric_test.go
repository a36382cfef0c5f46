package value

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

var numericOperations = []struct {
	sql  string
	call func(a, b Numeric) (Numeric, error)
}{
	{"%s + %s", Numeric.Add}, {"%s - %s", Numeric.Sub}, {"%s * %s", Numeric.Mul}, {"%s / %s", Numeric.Div}, {"%s %% %s", Numeric.Mod},
	{"div(%s, %s)", Numeric.QuoInt}, {"power(%s, %s)", Numeric.Power}, {"log(%[2]s, %[1]s)", Numeric.Log},
	{"sqrt(%s)", func(a, _ Numeric) (Numeric, error) { return a.Sqrt() }},
	{"ln(%s)", func(a, _ Numeric) (Numeric, error) { return a.Ln() }},
	{"exp(%s)", func(a, _ Numeric) (Numeric, error) { return a.Exp() }},
	{"ceil(%s)", func(a, _ Numeric) (Numeric, error) { return a.Ceil(), nil }},
	{"floor(%s)", func(a, _ Numeric) (Numeric, error) { return a.Floor(), nil }},
	{"round(%s, 2)", func(a, _ Numeric) (Numeric, error) { return a.Round(2), nil }},
	{"trunc(%s, -1)", func(a, _ Numeric) (Numeric, error) { return a.Trunc(-1), nil }},
	{"trim_scale(%s)", func(a, _ Numeric) (Numeric, error) { return a.TrimScale(), nil }},
	{"-(%s)", func(a, _ Numeric) (Numeric, error) { return a.Neg(), nil }},
	{"abs(%s)", func(a, _ Numeric) (Numeric, error) { return a.Abs(), nil }},
}

func randomNumeric(r *rand.Rand) string {
	switch r.IntN(8) {
	case 0:
		return pick(r, "NaN", "Infinity", "-Infinity", "0", "1", "-1", "0.00", "2", "0.5", "1.05", "0.95", "10", "100.0", "3", "-2", "1e-10", "9999", "10000", "0.0001")
	case 1, 2:
		return fmt.Sprintf("%s%d.%d", pick(r, "", "-"), r.IntN(20), r.IntN(100))
	}
	return strings.TrimSpace(pick(r, "", "-") + fmt.Sprint(r.Uint64()>>r.IntN(64)) + pick(r, "", ".0", "."+fmt.Sprint(r.Uint64()>>r.IntN(64))))
}

// TestNumericLikePostgreSQL compares numeric arithmetic, including the scale of each result.
func TestNumericLikePostgreSQL(t *testing.T) {
	p, r := newPeer(t), seeded(t)
	wrong := 0
	for range times(t, 3000) {
		a, b := randomNumeric(r), randomNumeric(r)
		op := numericOperations[r.IntN(len(numericOperations))]
		if strings.HasPrefix(op.sql, "exp") || strings.HasPrefix(op.sql, "power") {
			a, b = a[:min(len(a), 6)], b[:min(len(b), 5)]
			if a == "-Infin" || a == "Infini" || b == "-Infi" || b == "Infin" {
				continue
			}
		}
		x, err := ParseNumeric(a)
		y, err2 := ParseNumeric(b)
		if err != nil || err2 != nil {
			continue
		}
		sql := fmt.Sprintf(op.sql, "numeric '"+a+"'", "numeric '"+b+"'")
		sql, _, _ = strings.Cut(sql, "%!(EXTRA")
		want := p.outcome(p.ask("select "+sql+" where $1::text is null", nil, 0, 0))
		n, err := op.call(x, y)
		if got := outcome(NumericType, n, err, &p.set); got != want {
			t.Errorf("%s: %s, PostgreSQL %s", sql, got, want)
			if wrong++; wrong == maxDifferences {
				t.Fatal("too many differences")
			}
		}
	}
}
