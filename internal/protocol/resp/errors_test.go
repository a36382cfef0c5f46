package resp

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"fiveways/internal/broker"
)

// TestEverySentinelHasARow reads the broker's error file: a sentinel without a row here would reach clients as an internal error.
func TestEverySentinelHasARow(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../broker/errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{} // text of errors.New -> name
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Err") {
			return true
		}
		call, ok := spec.Values[0].(*ast.CallExpr)
		if !ok {
			t.Fatalf("%s is not made by errors.New", spec.Names[0].Name)
		}
		names[strings.Trim(call.Args[0].(*ast.BasicLit).Value, `"`)] = spec.Names[0].Name
		return true
	})
	if len(names) < 10 {
		t.Fatalf("found only %d sentinels", len(names))
	}
	for _, row := range errorRows {
		delete(names, row.err.Error())
		code, text, _ := strings.Cut(string(row.text), " ")
		if code == "" || strings.ToUpper(code) != code || text == "" {
			t.Errorf("%q is not a code and a text", row.text)
		}
	}
	for _, name := range names {
		t.Errorf("broker.%s has no row in errorRows", name)
	}
}

func TestErrorText(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want string
	}{
		{errSyntax, "ERR syntax error"},
		{&broker.Error{Err: broker.ErrRejected, Kind: "queue", Name: "q"}, "ERR queue 'q' is full"},
		{&broker.Error{Err: broker.ErrAccessRefused, Kind: "queue", Name: "q"}, string(errNoPermKey)},
		{errors.New("what nobody thought of"), "ERR internal error"},
	} {
		if got := errorText(tc.err); got != tc.want {
			t.Errorf("%v: %q", tc.err, got)
		}
	}
}
