package lint

import (
	"fmt"
	"go/ast"
	"testing"
)

// ofShards are the names of package shard that packages outside the engine may use: the arguments
// and results of sessions.
var ofShards = map[string]bool{
	"Consumer": true, "ConsumerSpec": true, "Delivery": true, "Limit": true, "Loan": true, "NewLimit": true,
	"Publish": true, "Queue": true, "QueueVersion": true, "Tapped": true, "Targets": true, "Window": true,
}

// commandsAreClosed permits only the packages of the engine to name the contract of commands, use
// shards, and get the Finder of a session. Other packages let the engine execute commands, and do
// not see the state that commands may access.
func commandsAreClosed(s source) (complaints []string) {
	if ofEngine(s.pkg()) {
		return nil
	}
	_, broker := s.imports()[self+"/"+engine]
	_, shard := s.imports()[self+"/"+engine+"/shard"]
	if !broker && !shard {
		return nil
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := sel.X.(*ast.Ident)
		if ok && shard && x.Name == "shard" && x.Obj == nil && !ofShards[sel.Sel.Name] || sel.Sel.Name == "Finder" {
			complaints = append(complaints, fmt.Sprintf("%s: %s is for packages below %s", s.at(sel), sel.Sel.Name, engine))
		}
		return true
	})
	return complaints
}

func TestCommandsAreClosed(t *testing.T) {
	everywhere(t, commandsAreClosed)
	catches(t, commandsAreClosed, []planted{
		{"a feature", "internal/broker/jobs/a.go", `package a; import "fiveways.dev/fiveways/internal/broker/shard"; func f(shard.Context) {}`, false},
		{"the command's name only", "internal/protocol/resp/a.go", `package a; import "fiveways.dev/fiveways/internal/broker"; var c broker.Command`, false},
		{"a protocol that looks into a session", "internal/protocol/resp/a.go", `package a; import "fiveways.dev/fiveways/internal/broker"; func f(s *broker.Session) { s.Finder() }`, true},
		{"a protocol's delivery", "internal/protocol/resp/a.go", `package a; import "fiveways.dev/fiveways/internal/broker/shard"; func f(shard.Delivery) {}`, false},
		{"a protocol", "internal/protocol/resp/a.go", `package a; import "fiveways.dev/fiveways/internal/broker/shard"; func f(shard.Context) {}`, true},
	})
}
