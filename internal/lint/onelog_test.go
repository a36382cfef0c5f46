package lint

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"testing"
)

// appends are the methods of a store that shardlog.Log has too.
var appends = []string{"Append", "AppendInline", "Barrier", "Commit"}

// pastTheLog returns the calls in typed files that append to a store directly, not through
// shardlog.Log. The scratch store is not a log.
func pastTheLog(fset *token.FileSet, info typed) (complaints []string) {
	for sel, s := range info.Selections {
		fn, ok := s.Obj().(*types.Func)
		if !ok || receiver(fn) != "internal/storage/store.Store" || !slices.Contains(appends, fn.Name()) {
			continue
		}
		if of, ok := sel.X.(*ast.SelectorExpr); ok && of.Sel.Name == "Scratch" {
			continue
		}
		complaints = append(complaints, fset.Position(sel.Pos()).String()+": "+fn.Name()+" of a store: append through the broker's Log")
	}
	return complaints
}

// TestOneLog finds entries that are appended to the log without the interface that a cluster
// implements.
func TestOneLog(t *testing.T) {
	engineTyped(t, pastTheLog, `package broker
		import "fiveways.dev/fiveways/internal/storage/store"
		type b struct { Scratch, store *store.Store }
		func f(b *b) { b.Scratch.Append(nil, nil); b.store.Append(nil, nil) }`, "Append of a store")
}
