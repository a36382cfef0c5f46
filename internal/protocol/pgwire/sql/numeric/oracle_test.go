package numeric

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"fiveways.dev/fiveways/test/postgres/peer"
)

var operations = []struct {
	sql  string
	call func(a, b Number) (Number, error)
}{
	{"%s + %s", Number.Add}, {"%s - %s", Number.Sub}, {"%s * %s", Number.Mul}, {"%s / %s", Number.Div}, {"%s %% %s", Number.Mod},
	{"div(%s, %s)", Number.QuoInt}, {"power(%s, %s)", Number.Power}, {"log(%[2]s, %[1]s)", Number.Log},
	{"sqrt(%s)", func(a, _ Number) (Number, error) { return a.Sqrt() }},
	{"ln(%s)", func(a, _ Number) (Number, error) { return a.Ln() }},
	{"exp(%s)", func(a, _ Number) (Number, error) { return a.Exp() }},
	{"ceil(%s)", func(a, _ Number) (Number, error) { return a.Ceil(), nil }},
	{"floor(%s)", func(a, _ Number) (Number, error) { return a.Floor(), nil }},
	{"round(%s, 2)", func(a, _ Number) (Number, error) { return a.Round(2), nil }},
	{"trunc(%s, -1)", func(a, _ Number) (Number, error) { return a.Trunc(-1), nil }},
	{"trim_scale(%s)", func(a, _ Number) (Number, error) { return a.TrimScale(), nil }},
	{"-(%s)", func(a, _ Number) (Number, error) { return a.Neg(), nil }},
	{"abs(%s)", func(a, _ Number) (Number, error) { return a.Abs(), nil }},
}

func randomNumber(r *rand.Rand) string {
	switch r.IntN(8) {
	case 0:
		return peer.Pick(r, "NaN", "Infinity", "-Infinity", "0", "1", "-1", "0.00", "2", "0.5", "1.05", "0.95", "10", "100.0", "3", "-2", "1e-10", "9999", "10000", "0.0001")
	case 1, 2:
		return fmt.Sprintf("%s%d.%d", peer.Pick(r, "", "-"), r.IntN(20), r.IntN(100))
	}
	return strings.TrimSpace(peer.Pick(r, "", "-") + fmt.Sprint(r.Uint64()>>r.IntN(64)) + peer.Pick(r, "", ".0", "."+fmt.Sprint(r.Uint64()>>r.IntN(64))))
}

// query returns the query of an operation, with a parameter that must be NULL.
func query(operation, a, b string) string {
	sql := fmt.Sprintf(operation, "numeric '"+a+"'", "numeric '"+b+"'")
	sql, _, _ = strings.Cut(sql, "%!(EXTRA")
	return "select " + sql + " where $1::text is null"
}

// TestLikePostgreSQL compares numeric arithmetic, including the scale of each result.
func TestLikePostgreSQL(t *testing.T) {
	p, r := peer.New(t), peer.Seeded(t)
	wrong := 0
	for range peer.Times(3000) {
		a, b := randomNumber(r), randomNumber(r)
		op := operations[r.IntN(len(operations))]
		if strings.HasPrefix(op.sql, "exp") || strings.HasPrefix(op.sql, "power") {
			a, b = a[:min(len(a), 6)], b[:min(len(b), 5)]
			if a == "-Infin" || a == "Infini" || b == "-Infi" || b == "Infin" {
				continue
			}
		}
		x, err := Parse(a)
		y, err2 := Parse(b)
		if err != nil || err2 != nil {
			continue
		}
		sql := query(op.sql, a, b)
		want := p.Ask(sql, nil, 0, 0).String()
		n, err := op.call(x, y)
		if got := outcome(n, err); got != want {
			t.Errorf("%s: %s, PostgreSQL %s", sql, got, want)
			if wrong++; wrong == peer.MaxDifferences {
				t.Fatal("too many differences")
			}
		}
	}
}
