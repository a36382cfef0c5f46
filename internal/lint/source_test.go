package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// source is one Go file.
type source struct {
	name string // slash-separated, from the module's root
	fset *token.FileSet
	file *ast.File
}

func (s source) pkg() string  { return path.Dir(s.name) }
func (s source) isTest() bool { return strings.HasSuffix(s.name, "_test.go") }

func (s source) at(n ast.Node) string {
	return s.name + ":" + strconv.Itoa(s.fset.Position(n.Pos()).Line)
}

// imports returns the path of each import. The module's own paths begin with self.
func (s source) imports() map[string]*ast.ImportSpec {
	all := map[string]*ast.ImportSpec{}
	for _, spec := range s.file.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			all[p] = spec
		}
	}
	return all
}

// parse parses the text of one file.
func parse(t *testing.T, name, text string) source {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return source{name, fset, file}
}

// module returns every Go file of the module.
func module(t *testing.T) []source {
	t.Helper()
	all, err := readModule()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 10 {
		t.Fatalf("found only %d files; the walk is wrong", len(all))
	}
	return all
}

// readModule reads the files once for all tests. They share one token.FileSet.
var readModule = sync.OnceValues(func() (all []source, err error) {
	const root = "../.."
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && file != root && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"testdata", "node_modules", "bin"}, d.Name())) {
			return filepath.SkipDir
		}
		if !d.IsDir() && strings.HasSuffix(file, ".go") {
			name, err := filepath.Rel(root, file)
			if err != nil {
				return err
			}
			parsed, err := parser.ParseFile(fset, file, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			all = append(all, source{filepath.ToSlash(name), fset, parsed})
		}
		return nil
	})
	return all, err
})

// rule reports what is wrong with one file.
type rule func(source) []string

// everywhere applies r to the whole module.
func everywhere(t *testing.T, r rule) {
	t.Helper()
	for _, s := range module(t) {
		for _, complaint := range r(s) {
			t.Error(complaint)
		}
	}
}

// planted is a file that a rule must accept or reject.
type planted struct {
	why, name, text string
	bad             bool
}

// catches checks that r can fail: each planted file must have the expected verdict.
func catches(t *testing.T, r rule, files []planted) {
	t.Helper()
	for _, f := range files {
		if got := r(parse(t, f.name, f.text)); (len(got) > 0) != f.bad {
			t.Errorf("%s: bad should be %v, complaints: %q", f.why, f.bad, got)
		}
	}
}
