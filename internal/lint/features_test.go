package lint

import (
	"fmt"
	"go/ast"
	"testing"
)

// contract are the types by which a command does what it is for, at its session and at its shard.
var contract = map[string]bool{"Finder": true, "Context": true, "Feature": true}

// commandsAreClosed lets only the packages on top of the engine name the contract of commands, and
// get a Finder of a session: others have the engine do commands, and do not see what these may do.
func commandsAreClosed(s source) (complaints []string) {
	if ofEngine(s.pkg()) {
		return nil
	}
	if _, ok := s.imports()[self+"/"+engine]; !ok {
		return nil
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := sel.X.(*ast.Ident)
		if ok && x.Name == "broker" && contract[sel.Sel.Name] || sel.Sel.Name == "Finder" {
			complaints = append(complaints, fmt.Sprintf("%s: broker.%s is for packages below %s", s.at(sel), sel.Sel.Name, engine))
		}
		return true
	})
	return complaints
}

func TestCommandsAreClosed(t *testing.T) {
	everywhere(t, commandsAreClosed)
	catches(t, commandsAreClosed, []planted{
		{"a feature", "internal/broker/jobs/a.go", `package a; import "fiveways/internal/broker"; func f(broker.Context) {}`, false},
		{"the command's name only", "internal/protocol/resp/a.go", `package a; import "fiveways/internal/broker"; var c broker.Command`, false},
		{"a protocol that looks into a session", "internal/protocol/resp/a.go", `package a; import "fiveways/internal/broker"; func f(s *broker.Session) { s.Finder() }`, true},
		{"a protocol", "internal/protocol/resp/a.go", `package a; import "fiveways/internal/broker"; func f(broker.Context) {}`, true},
	})
}
