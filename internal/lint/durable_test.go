package lint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

// engine is the package that makes decisions. The packages below its folder build on it.
const engine = "internal/broker"

// machine is the only package that changes durable state.
const machine = "internal/core/shardstate"

// durable lists the exported methods of the types that hold durable state, by whether they change
// it. A method that is not listed fails the test, so that the decision is not forgotten.
var durable = map[string]struct{ changes, others string }{
	"internal/core/queue.State": {
		changes: "Publish Purge Recount Replace Requeue Reschedule Restore Return Settle SettleRange",
	},
	"internal/core/job.Ledger": {
		changes: "Clear End Forget ForgetPassed Lease Remember Restore",
		others: "AppendTo DoneFrom EachLease Hash InBackoff Leased Leases LoggedLeases Next NextEnd Over Remembered RememberedIDs " +
			"Finish Mention Skip", // these concern the process only
	},
	"internal/core/stream.Stream": {
		changes: "Add Delete DropGroup Restore Set SetGroup Trim",
		others: "Added Advance AppendTo Ascend Blocks Cut Descend Excess Find FirstEntry Freeze Group Groups Handles Hash Lag Last LastEntry " +
			"Len MaxDeleted NextID NextIn NextPast",
	},
	"internal/core/stream.Group": {
		changes: "Ack Enter Give Leave",
		others:  "Ascend Consumer Consumers Ends Len Pending Touch",
	},
}

// durableFields are the types with durable state whose fields only the machine may assign, with the
// fields that belong to the process.
var durableFields = map[string]string{
	"internal/core/shardstate.Queue": "", "internal/core/job.Ledger": "", "internal/core/stream.Stream": "", "internal/core/stream.Group": "",
	"internal/core/job.Lease": "Key First Ended",
}

// changesDurable returns the calls and assignments in typed files that change durable state.
func changesDurable(fset *token.FileSet, info typed) (complaints []string) {
	for sel, s := range info.Selections {
		fn, ok := s.Obj().(*types.Func)
		if !ok {
			name := typeName(s.Recv())
			ofProcess, isDurable := durableFields[name]
			if info.assigned[sel] && isDurable && !slices.Contains(strings.Fields(ofProcess), s.Obj().Name()) {
				complaints = append(complaints, fmt.Sprintf("%s: %s.%s is durable: only %s assigns it", fset.Position(sel.Pos()), name, s.Obj().Name(), machine))
			}
			continue
		}
		name := receiver(fn)
		if slices.Contains(strings.Fields(durable[name].changes), fn.Name()) {
			complaints = append(complaints, fmt.Sprintf("%s: %s.%s changes what is durable: only %s may, through a Recorder",
				fset.Position(sel.Pos()), name, fn.Name(), machine))
		}
	}
	return complaints
}

// receiver returns the type of a method's receiver, relative to the module's root.
func receiver(fn *types.Func) string {
	recv := fn.Type().(*types.Signature).Recv()
	if recv == nil {
		return ""
	}
	return typeName(recv.Type())
}

// typeName returns the name of a type, or of the type that a pointer points to, relative to the
// module's root.
func typeName(t types.Type) string {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return ""
	}
	return strings.TrimPrefix(named.Obj().Pkg().Path(), self+"/") + "." + named.Obj().Name()
}

// engineImporter reads the export data of the engine and of everything that it imports.
var engineImporter = sync.OnceValues(func() (types.Importer, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=ImportPath,Export", "./"+engine+"/...")
	cmd.Dir, cmd.Stderr = "../..", os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ ImportPath, Export string }
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		files[p.ImportPath] = p.Export
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) }), nil
})

// typed has what the files of a package select, and which selections they assign to.
type typed struct {
	*types.Info
	assigned map[*ast.SelectorExpr]bool
}

// find records what a file assigns or increments.
func (t typed) find(file *ast.File) {
	note := func(of ...ast.Expr) {
		for _, x := range of {
			if sel, ok := x.(*ast.SelectorExpr); ok {
				t.assigned[sel] = true
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			note(n.Lhs...)
		case *ast.IncDecStmt:
			note(n.X)
		}
		return true
	})
}

// ofEngine reports whether a package belongs to the engine.
func ofEngine(pkg string) bool { return pkg == engine || strings.HasPrefix(pkg, engine+"/") }

// typeEngine type-checks the engine, and returns what each package selects.
var typeEngine = sync.OnceValues(func() (infos []typed, err error) {
	all, err := readModule()
	if err != nil {
		return nil, err
	}
	files := map[string][]source{}
	for _, s := range all {
		if ofEngine(s.pkg()) && !s.isTest() {
			files[s.pkg()] = append(files[s.pkg()], s)
		}
	}
	for pkg, of := range files {
		info, err := check(pkg, of)
		if err != nil {
			return nil, err
		}
		infos = append(infos, info)
	}
	return infos, nil
})

// engineTyped calls look with what each package of the engine selects. It also checks that look
// finds what is planted in an additional file: one complaint, which contains want.
func engineTyped(t *testing.T, look func(*token.FileSet, typed) []string, text, want string) {
	t.Helper()
	infos, err := typeEngine()
	if err != nil {
		t.Fatal(err)
	}
	fset := module(t)[0].fset
	for _, info := range infos {
		for _, complaint := range look(fset, info) {
			t.Error(complaint)
		}
	}
	bad := parse(t, engine+"/a.go", text)
	info, err := check(engine, []source{bad})
	if err != nil {
		t.Fatal(err)
	}
	if found := look(bad.fset, info); len(found) != 1 || !strings.Contains(found[0], want) {
		t.Errorf("what was planted was not found: %q", found)
	}
}

// check type-checks the files of a package, which share one token.FileSet.
func check(pkg string, files []source) (typed, error) {
	imp, err := engineImporter()
	if err != nil {
		return typed{}, err
	}
	var parsed []*ast.File
	for _, s := range files {
		parsed = append(parsed, s.file)
	}
	info := typed{&types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}}, map[*ast.SelectorExpr]bool{}}
	for _, file := range parsed {
		info.find(file)
	}
	_, err = (&types.Config{Importer: imp}).Check(self+"/"+pkg, files[0].fset, parsed, info.Info)
	return info, err
}

// TestOneApply finds code outside the machine that changes durable state: recovery would not repeat
// the change.
func TestOneApply(t *testing.T) {
	imp, err := engineImporter()
	if err != nil {
		t.Fatal(err)
	}
	for name, methods := range durable {
		pkg, typ, _ := strings.Cut(name, ".")
		p, err := imp.Import(self + "/" + pkg)
		if err != nil {
			t.Fatal(err)
		}
		named := p.Scope().Lookup(typ).Type().(*types.Named)
		known := strings.Fields(methods.changes + " " + methods.others)
		for m := range named.Methods() {
			if m.Exported() && !slices.Contains(known, m.Name()) {
				t.Errorf("%s.%s has no row in this test: does it change what is durable?", name, m.Name())
			}
		}
	}
	engineTyped(t, changesDurable, `package broker
		import "fiveways.dev/fiveways/internal/core/queue"
		func f(s *queue.State) { s.Next(0); s.Purge(nil, nil) }`, "State.Purge")
	engineTyped(t, changesDurable, `package broker
		import "fiveways.dev/fiveways/internal/core/shardstate"
		func f(q *shardstate.Queue) { s := q.Stream; q.Stream = nil; _ = s }`, "Queue.Stream is durable")
	engineTyped(t, changesDurable, `package broker
		import "fiveways.dev/fiveways/internal/core/job"
		func f(l *job.Lease) { l.Ended = true; l.Until++ }`, "Lease.Until is durable")
}
