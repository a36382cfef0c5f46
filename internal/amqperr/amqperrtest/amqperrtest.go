// Package amqperrtest reads the sentinel errors of the engine from their source, so that tests can
// check that every protocol maps each of them. It is for tests only.
package amqperrtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// Sentinels reads the exported errors that a file of Go makes with errors.New: their names by their
// texts. A test that takes away those that a protocol has a row for is left with those that would
// reach its clients as an internal error. Fewer than atLeast fail the test: then the errors have
// gone elsewhere.
func Sentinels(t *testing.T, path string, atLeast int) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
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
	if len(names) < atLeast {
		t.Fatalf("%s has only %d sentinels", path, len(names))
	}
	return names
}
