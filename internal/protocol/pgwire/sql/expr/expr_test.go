package expr

import (
	"context"
	"testing"

	"fiveways/internal/protocol/pgwire/pgerror"
	"fiveways/internal/protocol/pgwire/sql/parse"
	"fiveways/internal/protocol/pgwire/sql/value"
)

// evaluate compiles and evaluates one expression and returns its value as text, and its type's name; or the error's SQLSTATE and message.
func evaluate(t testing.TB, text string) (result, typeName string) {
	t.Helper()
	text = "select " + text
	tree, err := parse.Parse(text)
	if err != nil {
		return "syntax: " + err.Error(), ""
	}
	c := &Compiler{Text: text, Settings: value.Defaults()}
	e, err := c.Compile(tree.Stmts[0].Stmt.GetSelectStmt().TargetList[0].GetResTarget().Val)
	if err == nil {
		e, err = c.ResolveUnknown(e)
	}
	if err != nil {
		return failure(err), ""
	}
	env := &Env{Ctx: context.Background(), Settings: value.Defaults(), User: "u", Database: "d"}
	d, err := e.Eval(env)
	switch {
	case err != nil:
		return failure(err), ""
	case d == nil:
		return "NULL", e.Type().String()
	}
	return value.String(e.Type(), d, &env.Settings), e.Type().String()
}

func failure(err error) string {
	if e, ok := err.(*pgerror.Error); ok {
		return e.Code + ": " + e.Message
	}
	return err.Error()
}

func TestFirst(t *testing.T) {
	for _, text := range []string{"1+1", "2147483647+1", "1/0", "'a'='a'", "case when 1=2 then 3 else 4 end", "3 in (1,2,3)", "1 + 'x'", "1 < 2.5", "$1", "a", "foo(1,'a')",
		"array[1,2,3]", "(array[1,2,3])[2]", "coalesce(null, 3)", "nullif(1,1)", "1 between 0 and 2", "(1,2)<(1,3)", "1 + date '2020-01-01'", "'1'::int", "int4(2.5)"} {
		r, tn := evaluate(t, text)
		t.Log(text, "->", r, "::", tn)
	}
}
