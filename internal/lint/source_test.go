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

// imports gives the path of each import; the module's own start with "fiveways/".
func (s source) imports() map[string]*ast.ImportSpec {
	all := map[string]*ast.ImportSpec{}
	for _, spec := range s.file.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil {
			all[p] = spec
		}
	}
	return all
}

// parse reads one file; a nil text means the file on disk under root.
func parse(t *testing.T, root, name string, text any) source {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, filepath.Join(root, name), text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return source{name, fset, file}
}

// module reads every Go file of the module.
func module(t *testing.T) []source {
	t.Helper()
	const root = "../.."
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatal(err)
	}
	var all []source
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
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
			all = append(all, parse(t, root, filepath.ToSlash(name), nil))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 10 {
		t.Fatalf("found only %d files; the walk is wrong", len(all))
	}
	return all
}

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

// planted is a file that a rule must accept or refuse.
type planted struct {
	why, name, text string
	bad             bool
}

// catches shows that r can fail: each planted file gives the verdict that it should.
func catches(t *testing.T, r rule, files []planted) {
	t.Helper()
	for _, f := range files {
		if got := r(parse(t, "", f.name, f.text)); (len(got) > 0) != f.bad {
			t.Errorf("%s: bad should be %v, complaints: %q", f.why, f.bad, got)
		}
	}
}

// reparse parses a file again, into a set of files that are typed together.
func reparse(t *testing.T, fset *token.FileSet, s source) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(fset, filepath.Join("../..", s.name), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return file
}
