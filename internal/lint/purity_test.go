package lint

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"testing"
)

var (
	impureImports = []string{"os", "net", "syscall", "log", "path/filepath", "io/fs", "io/ioutil"}
	chance        = []string{"math/rand", "crypto/rand"}
	clockCalls    = []string{"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"}
)

// pureCore keeps I/O, clocks, randomness and goroutines out of internal/core: replaying the log
// must give the same state. Routing may use randomness, since it decides and the log records its
// decisions.
func pureCore(s source) (complaints []string) {
	if s.isTest() || !strings.HasPrefix(s.name, "internal/core/") {
		return nil
	}
	refused := impureImports
	if !strings.HasPrefix(s.name, "internal/core/routing/") {
		refused = slices.Concat(refused, chance)
	}
	for imported, spec := range s.imports() {
		if slices.ContainsFunc(refused, func(p string) bool { return imported == p || strings.HasPrefix(imported, p+"/") }) {
			complaints = append(complaints, fmt.Sprintf("%s: the core is pure; it may not import %s", s.at(spec), imported))
		}
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			complaints = append(complaints, s.at(n)+": the core starts no goroutines")
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clockCalls, n.Sel.Name) {
				complaints = append(complaints, fmt.Sprintf("%s: the core has no clock; time comes in as an argument, not from time.%s", s.at(n), n.Sel.Name))
			}
		}
		return true
	})
	return complaints
}

func TestCoreIsPure(t *testing.T) {
	everywhere(t, pureCore)
	const name = "internal/core/queue/a.go"
	catches(t, pureCore, []planted{
		{"plain code", name, `package a; import "time"; func f(d time.Duration) int64 { return d.Milliseconds() }`, false},
		{"the same outside", "internal/broker/a.go", `package a; import ("os"; "time"); var _ = os.Args; func f() { go f(); time.Now() }`, false},
		{"dice in routing", "internal/core/routing/a.go", `package a; import _ "math/rand/v2"`, false},
		{"a test", "internal/core/queue/a_test.go", `package a; import "os"; var _ = os.Args`, false},
		{"files", name, `package a; import _ "os"`, true},
		{"sockets", name, `package a; import _ "net/http"`, true},
		{"chance", name, `package a; import _ "math/rand/v2"`, true},
		{"clock", name, `package a; import "time"; var t = time.Now()`, true},
		{"goroutine", name, `package a; func f() { go f() }`, true},
	})
}
