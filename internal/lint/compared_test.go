package lint

import (
	"fmt"
	"go/ast"
	"strings"
	"testing"
)

// opensUncompared finds tests that open a broker without package enginetest, which compares the
// state of each broker with a replay of its log. Packages with their own comparison, and
// benchmarks, are exempt.
func opensUncompared(s source) (complaints []string) {
	forTests := s.isTest() || strings.HasSuffix(s.pkg(), "test") || strings.HasPrefix(s.pkg(), "test/")
	switch s.pkg() {
	case engine, engine + "/enginetest", "internal/semaphores", "internal/keyspace":
		return nil
	}
	if !forTests || strings.HasSuffix(s.name, "bench_test.go") {
		return nil
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Open" {
			if of, ok := sel.X.(*ast.Ident); ok && of.Name == "broker" {
				complaints = append(complaints, fmt.Sprintf("%s: enginetest.Open opens a broker whose state is compared when it closes", s.at(sel)))
			}
		}
		return true
	})
	return complaints
}

func TestBrokersAreCompared(t *testing.T) {
	everywhere(t, opensUncompared)
	catches(t, opensUncompared, []planted{
		{"past it", "internal/protocol/amqp/a_test.go", `package a; func f() { broker.Open(nil) }`, true},
		{"in a package for tests", "internal/protocol/resp/resptest/a.go", `package a; func f() { broker.Open(nil) }`, true},
		{"through it", "internal/protocol/amqp/a_test.go", `package a; func f() { enginetest.Open(nil) }`, false},
		{"a benchmark", "internal/monitor/bench_test.go", `package a; func f() { broker.Open(nil) }`, false},
		{"the product", "internal/server/a.go", `package a; func f() { broker.Open(nil) }`, false},
	})
}
