package expr_test

import (
	"context"
	"fmt"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v6"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/builtin"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/parse"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// column is a column of the current row.
type column struct {
	of    *value.Type
	index int
	name  string
}

func (c *column) Type() *value.Type                       { return c.of }
func (c *column) Eval(env *expr.Env) (value.Datum, error) { return env.Rows[0][c.index], nil }

// node parses one expression. text is the statement that contains it.
func node(t testing.TB, expression string) (n *pg.Node, text string) {
	t.Helper()
	text = "select " + expression
	tree, err := parse.Parse(text)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return tree.Stmts[0].Stmt.GetSelectStmt().TargetList[0].GetResTarget().Val, text
}

// compile compiles an expression with columns n int, s text, h hstore, m mbus4.qt_model, and a
// function f(a int, b text default 'x').
func compile(t testing.TB, expression string, params *expr.Params) (expr.Expr, error) {
	t.Helper()
	n, text := node(t, expression)
	columns := []*column{{value.Int4, 0, "n"}, {value.Text, 1, "s"}, {value.Hstore, 2, "h"}, {value.QTModel, 3, "m"}}
	c := &expr.Compiler{Text: text, Settings: value.Defaults(), Library: builtin.Library, Params: params}
	c.Column = func(parts []string, location int32) (expr.Expr, error) {
		for _, column := range columns {
			if parts[len(parts)-1] == column.name {
				return column, nil
			}
		}
		return nil, expr.NoColumn(parts).At(text, location)
	}
	c.Functions = func(schema, name string) []*expr.Function {
		if name != "f" {
			return nil
		}
		return []*expr.Function{{
			Schema: "mbus4", Name: "f", Volatility: expr.Volatile, Returns: value.Text,
			Args: []expr.Arg{{Name: "a", Type: value.Int4}, {Name: "b", Type: value.Text, HasDefault: true, Default: "x"}},
			Call: func(_ *expr.Env, a []value.Datum) (value.Datum, error) { return fmt.Sprintf("%v,%v", a[0], a[1]), nil },
		}}
	}
	e, err := c.Compile(n)
	if err != nil {
		return nil, err
	}
	return c.ResolveUnknown(e)
}

// rowEnv returns an environment with a row for the columns of compile.
func rowEnv(t testing.TB) *expr.Env {
	t.Helper()
	set := value.Defaults()
	h, err := value.Parse(value.Hstore, "STATE=>DONE, n=>5", &set)
	if err != nil {
		t.Fatal(err)
	}
	m := value.Record{int64(7), nil, "q.7", nil, nil, nil, nil, h, nil}
	return &expr.Env{
		Ctx: context.Background(), Settings: set, User: "guest", Database: "fiveways", Rows: [][]value.Datum{{int64(3), "text", h, m}},
		Params: []value.Datum{int64(10), "p"},
	}
}

func shown(t testing.TB, expression string) string {
	t.Helper()
	e, err := compile(t, expression, nil)
	if err != nil {
		return failure(err)
	}
	env := rowEnv(t)
	d, err := e.Eval(env)
	switch {
	case err != nil:
		return failure(err)
	case d == nil:
		return "NULL " + e.Type().String()
	}
	return value.String(e.Type(), d, &env.Settings) + " " + e.Type().String()
}

func failure(err error) string {
	e, ok := err.(*pgerror.Error)
	if !ok {
		return "not an error of PostgreSQL: " + err.Error()
	}
	text := e.Code + " " + e.Message
	if e.Position > 0 {
		text += fmt.Sprintf(" at %d", e.Position)
	}
	return text
}

func TestExpressions(t *testing.T) {
	for _, c := range []struct{ expression, want string }{
		// Expressions that depend on a row.
		{"n + 1", "4 integer"}, {"s || n", "text3 text"}, {"h -> 'STATE' = 'DONE'", "t boolean"}, {"(h->'n')::int > n", "t boolean"},
		{"h['STATE']", "DONE text"}, {"(m).iid", "q.7 text"}, {"(m).properties -> 'n'", "5 text"}, {"m.iid", "42P01 missing FROM-clause entry for table \"m\" at 8"},
		{"n in (1, 3)", "t boolean"}, {"n in (1, n)", "t boolean"}, {"case n when 3 then 'three' end", "three text"}, {"(n, s) = (3, 'text')", "t boolean"},
		{"n between 1 and 3", "t boolean"}, {"m is null", "f boolean"}, {"(1, 1 / (n - n)) is null", "f boolean"}, {"(null, 1 / (n - n)) is not null", "f boolean"},
		{"upper('привет') || initcap('ёж ИЖ')", "ПРИВЕТЁж Иж text"}, {"'ПРИВЕТ' ilike 'при%' and 'Ёлка' ~* '^ё\\w+$'", "t boolean"},
		{"regexp_match('ключ=ключ', '(\\w+)=\\1\\M')", "{ключ} text[]"}, {"regexp_substr('abc', 'b', 2, 1, '', 1)", "b text"},
		{"regexp_count('abc', 'x*', 9)", "0 integer"}, {"regexp_count('foo', 'o*')", "3 integer"}, {"regexp_replace('xx', '^x', '-', 2)", "xx text"},
		{"iid(m)", "q.7 text"}, {"h ? 'STATE' and exist(h, 'n')", "t boolean"},
		// Calls.
		{"f(1)", "1,x text"}, {"f(b => 'y', a => 2)", "2,y text"}, {"f(2, b := 'z')", "2,z text"}, {"f(null)", "<nil>,x text"},
		{"f()", "42883 function f() does not exist at 8"}, {"f(c => 1)", "42883 function f(c => integer) does not exist at 8"},
		{"f(a => 1, a => 2)", "42601 argument name \"a\" used more than once at 18"}, {"f(b => 'a', 1)", "42601 positional argument cannot follow named argument at 20"},
		{"make_interval(days => 2)", "2 days interval"}, {"concat(variadic array['a', 'b'])", "ab text"}, {"mbus4.f(1)", "1,x text"},
		{"int4(2.5)", "3 integer"}, {"pg_catalog.lower('A')", "a text"},
		// PostgreSQL's errors.
		{"1 + 'x'::text", "42883 operator does not exist: integer + text at 10"}, {"nope", "42703 column \"nope\" does not exist at 8"},
		{"nosuch(1, 'a')", "42883 function nosuch(integer, unknown) does not exist at 8"}, {"1/0", "22012 division by zero"},
		{"2147483647 + 1", "22003 integer out of range"}, {"'x'::int", "22P02 invalid input syntax for type integer: \"x\" at 8"},
		{"1::hstore", "42846 cannot cast type integer to hstore at 9"}, {"'a'::nosuch", "42704 type \"nosuch\" does not exist at 13"},
		{"case when 1 then 2 end", "42804 argument of CASE/WHEN must be type boolean, not type integer at 18"},
		{"coalesce(1, true)", "42804 COALESCE types integer and boolean cannot be matched at 20"}, {"not 1", "42804 argument of NOT must be type boolean, not type integer at 12"},
		{"$1", "42P02 there is no parameter $1 at 8"}, {"array[]", "42P18 cannot determine type of empty array at 8"},
		{"sum(1)", "42803 aggregate functions are not allowed here at 8"}, {"generate_series(1, 2)", "0A000 set-returning functions are not allowed here at 8"},
		{"lower(distinct 'a')", "42809 DISTINCT specified, but lower is not an aggregate function at 8"}, {"(m).nope", "42703 column \"nope\" not found in data type mbus4.qt_model at 9"},
		{"(1).x", "42809 column notation .x applied to type integer, which is not a composite type at 9"}, {"'a' collate \"xx\"", "42704 collation \"xx\" for encoding \"UTF8\" does not exist at 12"},
		{"1 = any(2)", "42809 op ANY/ALL (array) requires array on right side at 10"}, {"row(1, 2) = row(1)", "42601 unequal number of entries in row expressions at 18"},
		{"'a' + 'b'", "42725 operator is not unique: unknown + unknown at 12"}, {"b'101'", "0A000 bit strings are not supported at 8"},
		{"case when n > 1 then row(n) end = case when n > 1 then row('a'::text) end", "0A000 operator record = record is not supported at 40"},
		{"to_tsvector('a')", "0A000 function to_tsvector(text) is not supported at 8"}, {"box '((0,0),(1,1))'", "0A000 type box is not supported at 8"},
		{"(select 1)", "0A000 cannot use subquery here at 8"}, {"rank() over ()", "0A000 window functions are not supported at 8"},
		{"'а' || 1/0", "22012 division by zero"}, {"'я' = 1 + 'x'::text", "42883 operator does not exist: integer + text at 16"},
		// An expression that is not evaluated does not fail.
		{"case when n = 3 then 1 else n / 0 end", "1 integer"}, {"coalesce(n, n / 0)", "3 integer"}, {"false and 1/0 = 1", "f boolean"}, {"n = 4 and n / 0 = 1", "f boolean"},
		// Session values and other special syntax.
		{"current_user", "guest name"}, {"current_database()", "fiveways name"}, {"pg_typeof(n)::oid", "23 oid"},
		{"interval '5' day", "5 days interval"}, {"to_char(12.45, '99V9')", " 125 text"}, {"substring('foobar' similar 'f#\"oo#\"b%' escape '#')", "oo text"},
	} {
		if got := shown(t, c.expression); got != c.want {
			t.Errorf("%s\n got  %s\n want %s", c.expression, got, c.want)
		}
	}
}

func TestParameters(t *testing.T) {
	for _, c := range []struct {
		expression string
		want       string // types of the parameters, or the error
	}{
		{"$1 + 1", "[integer]"}, {"n = $1 and s = $2", "[integer text]"}, {"$1", "[text]"}, {"$1::hstore -> $2", "[hstore text]"}, {"f($1, $2)", "[integer text]"},
		{"$2 = n", "[<nil> integer]"}, {"$1::int + $1::int", "[integer]"}, {"$1 || h", "[hstore]"}, {"coalesce($1, n)", "[integer]"},
		{"$1::int = 1 and $1 = 'a'", "22P02 invalid input syntax for type integer: \"a\" at 29"}, {"n in ($1, $2)", "[integer integer]"},
		{"n = any($1)", "[integer[]]"}, {"$1 is null", "[<nil>]"},
	} {
		params := &expr.Params{}
		_, err := compile(t, c.expression, params)
		got := fmt.Sprint(params.Types)
		if err != nil {
			got = failure(err)
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.expression, got, c.want)
		}
	}
}

func TestVolatility(t *testing.T) {
	for _, c := range []struct {
		expression string
		want       expr.Volatility
	}{
		{"h -> 'a' = 'b'", expr.Immutable}, {"now()", expr.Stable}, {"current_user", expr.Stable}, {"random() < n", expr.Volatile}, {"s::timestamp", expr.Stable},
		{"(h -> 'a')::int + 1", expr.Immutable}, {"case when n = 1 then clock_timestamp() end", expr.Volatile}, {"to_char(n, '9')", expr.Stable}, {"f(n)", expr.Volatile},
		{"s like 'a%' or n in (1, 2)", expr.Immutable}, {"s || n", expr.Immutable}, {"array[current_user]", expr.Stable},
	} {
		e, err := compile(t, c.expression, nil)
		if err != nil {
			t.Fatal(c.expression, err)
		}
		if got := expr.VolatilityOf(e); got != c.want {
			t.Errorf("%s is %c, want %c", c.expression, got, c.want)
		}
	}
}

// TestConcurrent evaluates one expression in several goroutines, each with its own Env.
func TestConcurrent(t *testing.T) {
	e, err := compile(t, "case n when 3 then s || coalesce(h -> 'STATE', 'none') || concat(n, s) end", nil)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	for range 4 {
		go func() {
			env := rowEnv(t)
			for range 1000 {
				if d, err := e.Eval(env); d != "textDONE3text" || err != nil {
					done <- fmt.Errorf("got %v, %v", d, err)
					return
				}
			}
			done <- nil
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func BenchmarkSelector(b *testing.B) {
	e, err := compile(b, "(m).properties->'STATE' = 'DONE'", nil)
	if err != nil {
		b.Fatal(err)
	}
	env := rowEnv(b)
	b.ReportAllocs()
	for b.Loop() {
		if d, err := e.Eval(env); d != true || err != nil {
			b.Fatal(d, err)
		}
	}
}

func BenchmarkParameter(b *testing.B) {
	e, err := compile(b, "f($1, $2)", &expr.Params{})
	if err != nil {
		b.Fatal(err)
	}
	env := rowEnv(b)
	arg := expr.Children(e)[1]
	b.ReportAllocs()
	for b.Loop() {
		if _, err := arg.Eval(env); err != nil {
			b.Fatal(err)
		}
	}
}
