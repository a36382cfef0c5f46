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
	"testing"
)

// engine is the package that decides, with those on top of it below its folder.
const engine = "internal/broker"

// machine is the only package that changes what is durable.
const machine = "internal/core/shardstate"

// durable says of each exported method of the types that hold durable state whether it changes
// that. A method without a row fails the test, so that the decision is not forgotten.
var durable = map[string]struct{ changes, others string }{
	"internal/core/queue.State": {
		changes: "Publish Purge Recount Replace Requeue Reschedule Restore Return Settle SettleRange",
	},
	"internal/core/job.Ledger": {
		changes: "Clear End Forget ForgetPassed Lease Remember Restore",
		others: "AppendTo DoneFrom EachLease Hash InBackoff Leased Leases LoggedLeases Next NextEnd Over Remembered RememberedIDs " +
			"Finish Mention Skip", // these are of the process
	},
	"internal/core/stream.Stream": {
		changes: "Add Delete DropGroup Restore Set SetGroup Trim",
		others: "Added Advance AppendTo Ascend Blocks Cut Descend Find FirstEntry Freeze Group Groups Handles Hash Lag Last LastEntry " +
			"Len MaxDeleted NextID NextIn",
	},
	"internal/core/stream.Group": {
		changes: "Ack Enter Give Leave",
		others:  "Ascend Consumer Consumers Ends Len Pending Touch",
	},
}

// changesDurable returns the calls in typed files that change what is durable.
func changesDurable(fset *token.FileSet, info *types.Info) (complaints []string) {
	for sel, s := range info.Selections {
		fn, ok := s.Obj().(*types.Func)
		if !ok {
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

// receiver names the type that a method belongs to, from the module's root.
func receiver(fn *types.Func) string {
	recv := fn.Type().(*types.Signature).Recv()
	if recv == nil {
		return ""
	}
	t := recv.Type()
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return ""
	}
	return strings.TrimPrefix(named.Obj().Pkg().Path(), self+"/") + "." + named.Obj().Name()
}

// exports reads the export data of packages and all they import.
func exports(t *testing.T, pkgs ...string) types.Importer {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Export"}, pkgs...)...)
	cmd.Dir, cmd.Stderr = "../..", os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct{ ImportPath, Export string }
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		files[p.ImportPath] = p.Export
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(files[path]) })
}

// ofEngine reports whether a package is the engine's.
func ofEngine(pkg string) bool { return pkg == engine || strings.HasPrefix(pkg, engine+"/") }

// engineTyped types the code of the engine and calls look with what each package selects.
func engineTyped(t *testing.T, imp types.Importer, look func(*token.FileSet, *types.Info) []string) {
	t.Helper()
	fset := token.NewFileSet()
	files := map[string][]*ast.File{}
	for _, s := range module(t) {
		if ofEngine(s.pkg()) && !s.isTest() {
			files[s.pkg()] = append(files[s.pkg()], reparse(t, fset, s))
		}
	}
	for pkg, of := range files {
		for _, complaint := range look(fset, check(t, imp, fset, pkg, of)) {
			t.Error(complaint)
		}
	}
}

// check types the files of a package.
func check(t *testing.T, imp types.Importer, fset *token.FileSet, pkg string, files []*ast.File) *types.Info {
	t.Helper()
	info := &types.Info{Selections: map[*ast.SelectorExpr]*types.Selection{}}
	if _, err := (&types.Config{Importer: imp}).Check(self+"/"+pkg, fset, files, info); err != nil {
		t.Fatal(err)
	}
	return info
}

// TestOneApply finds code that changes what is durable past the machine: recovery would not do the
// same.
func TestOneApply(t *testing.T) {
	imp := exports(t, "./"+engine+"/...")
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
	engineTyped(t, imp, changesDurable)
	planted := parse(t, "", engine+"/a.go", `package broker
		import "fiveways/internal/core/queue"
		func f(s *queue.State) { s.Next(0); s.Purge(nil, nil) }`)
	found := changesDurable(planted.fset, check(t, imp, planted.fset, engine, []*ast.File{planted.file}))
	if len(found) != 1 || !strings.Contains(found[0], "State.Purge") {
		t.Errorf("a planted change was not found: %q", found)
	}
}
