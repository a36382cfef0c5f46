package refusals

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// TestEverySentinelHasARow reads the files that have them: a sentinel that is
// exported there and has no row here would reach clients as an internal error.
func TestEverySentinelHasARow(t *testing.T) {
	messages := map[string]string{} // text of errors.New -> name
	collectSentinels(t, "../broker/errors.go", messages)
	if len(messages) < 10 {
		t.Fatalf("found only %d sentinels", len(messages))
	}
	for _, row := range rows {
		delete(messages, row.err.Error())
	}
	for _, name := range messages {
		t.Errorf("%s has no row", name)
	}
}

func collectSentinels(t *testing.T, path string, messages map[string]string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Err") {
			return true
		}
		call, ok := spec.Values[0].(*ast.CallExpr)
		if !ok {
			t.Fatalf("%s is not made by errors.New", spec.Names[0].Name)
		}
		messages[strings.Trim(call.Args[0].(*ast.BasicLit).Value, `"`)] = spec.Names[0].Name
		return true
	})
}
