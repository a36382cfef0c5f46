package expr_test

import (
	"testing"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/builtin"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// TestImplementations checks that every implementation belongs to a PostgreSQL function: a
// misspelled name would never be called.
func TestImplementations(t *testing.T) {
	for _, name := range builtin.Library.Misspelled() {
		t.Errorf("%s is no function of PostgreSQL", name)
	}
}

// TestTwice checks that a library cannot have two functions with the same name.
func TestTwice(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("two tables with the same function made a library")
		}
	}()
	expr.NewLibrary(expr.Table{"lower": {}}, expr.Table{"upper": {}}, expr.Table{"lower": {}})
}

func TestLookups(t *testing.T) {
	if n := len(builtin.Library.Functions("lower")); n != 3 {
		t.Errorf("lower has %d overloads, not 3", n) // of text and of ranges
	}
	for _, name := range []string{"", "zzz", "!", "lowe", "lower\t"} {
		if builtin.Library.Functions(name) != nil {
			t.Errorf("there is a function %q", name)
		}
	}
	first, last := expr.CatalogEnds()
	if builtin.Library.Functions(first) == nil || builtin.Library.Functions(last) == nil {
		t.Error("the first or the last function is not found")
	}
	if n := len(builtin.Library.AllFunctions()); n < 700 {
		t.Errorf("only %d functions can be called", n)
	}
	if n := len(builtin.Library.AllOperators()); n < 300 {
		t.Errorf("only %d operators can be used", n)
	}
	if f := builtin.Library.Functions("hstore_to_json"); len(f) != 1 || f[0].Schema != "public" || f[0].Args[0].Type != value.Hstore || f[0].Volatility != expr.Immutable {
		t.Errorf("hstore_to_json is %+v", f)
	}
}
