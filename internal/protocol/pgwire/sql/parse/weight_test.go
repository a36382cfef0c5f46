package parse

import (
	"errors"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/parse/libpgquery"
)

// nesting holds constructs that can be nested n times.
var nesting = map[string]func(n int) string{
	"sum":  func(n int) string { return "select 1" + strings.Repeat("+1", n) },
	"sign": func(n int) string { return "select " + strings.Repeat("- ", n) + "a" },
	"cast": func(n int) string { return "select a" + strings.Repeat("::b", n) },
	"not":  func(n int) string { return "select " + strings.Repeat("not ", n) + "a" },
	"case": func(n int) string {
		return "select " + strings.Repeat("case when ", n) + "a" + strings.Repeat(" then b end", n)
	},
	"else": func(n int) string {
		return "select " + strings.Repeat("case a when 1 then 2 else ", n) + "a" + strings.Repeat(" end", n)
	},
	"call":      func(n int) string { return "select " + strings.Repeat("f(", n) + "a" + strings.Repeat(")", n) },
	"list":      func(n int) string { return "select " + strings.Repeat("f(1,", n) + "a" + strings.Repeat(")", n) },
	"bracket":   func(n int) string { return "select " + strings.Repeat("(", n) + "a" + strings.Repeat(")", n) },
	"scalar":    func(n int) string { return strings.Repeat("select (", n) + "a" + strings.Repeat(")", n) },
	"from":      func(n int) string { return strings.Repeat("select from (", n) + "select" + strings.Repeat(") x", n) },
	"union":     func(n int) string { return "select" + strings.Repeat(" union select", n) },
	"unionlist": func(n int) string { return "values (1),(1)" + strings.Repeat(" union values (1),(1)", n) },
	"join":      func(n int) string { return "select from a" + strings.Repeat(" join b on c and d", n) },
	"array":     func(n int) string { return "select " + strings.Repeat("array[", n) + strings.Repeat("]", n) },
	"is":        func(n int) string { return "select a" + strings.Repeat(" is true", n) },
	"with":      func(n int) string { return strings.Repeat("with a as (", n) + "select" + strings.Repeat(") select", n) },
	"in":        func(n int) string { return "select " + strings.Repeat("a in (", n) + "1" + strings.Repeat(")", n) },
	"exists": func(n int) string {
		return strings.Repeat("select from a where b and exists (", n) + "select" + strings.Repeat(")", n)
	},
}

// The parser handles every text that passes the limits: it succeeds or fails without a trap.
func TestNesting(t *testing.T) {
	for name, text := range nesting {
		n := 1
		for step := 1 << 12; step > 0; step >>= 1 {
			if !tooHeavy(text(n + step)) {
				n += step
			}
		}
		if n < 200 {
			t.Errorf("%s: only %d levels are let through", name, n)
		}
		if _, err := libpgquery.NewParser().Parse(text(n)); errors.Is(err, libpgquery.ErrTrapped) {
			t.Errorf("%s: %d levels: %v", name, n, err)
		}
		_, err := Parse(text(20000))
		var e *pgerror.Error
		if !errors.As(err, &e) || e.Code != "54001" {
			t.Errorf("%s: 20,000 levels: %v", name, err)
		}
	}
	if _, err := Parse("select 'after' || 'all'"); err != nil {
		t.Error(err)
	}
}

// Long lists do not count as nesting, nor does anything in quotes or comments.
func TestFlat(t *testing.T) {
	many := func(s string) string { return strings.Repeat(s, 20000) }
	for _, text := range []string{
		"select 1" + many(",1"), "values (1)" + many(",(f(1),2)"), "select a = 1" + many(" or a = 2 and b"), many("select 1;"),
		"select case" + many(" when a then b") + " end", "select a in (1" + many(", 1") + ")",
		"select '" + many("''(") + "'", `select e'` + many(`\'(`) + `'`, `select "` + many(`(""`) + `"`, "select $a$" + many("$b$(") + "$a$",
		"select 1 -- " + many("("), "/* /* */" + many("(") + "*/ select 1",
	} {
		if w := weigh(text); w.depth > 20 {
			t.Errorf("%.30s…: depth %d", text, w.depth)
		}
		if _, err := Parse(text); err != nil {
			t.Errorf("%.30s…: %v", text, err)
		}
	}
}

// A text with too many words is refused before it uses much memory.
func TestManyWords(t *testing.T) {
	_, err := Parse("select 1" + strings.Repeat(",1", maxWords))
	var e *pgerror.Error
	if !errors.As(err, &e) || e.Code != "54001" {
		t.Error(err)
	}
}
