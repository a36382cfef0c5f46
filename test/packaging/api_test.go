package packaging

import (
	"errors"
	"fmt"
	"go/ast"
	gobuild "go/build"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const apiNext = "../../api/next.txt"

// TestAPI checks that everything that a released version exports still exists unchanged, and that
// api/next.txt has what was added since.
func TestAPI(t *testing.T) {
	exported := publicSurface(t)
	files, err := filepath.Glob("../../api/v*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%q, %v", files, err)
	}
	added := slices.Clone(exported)
	for _, file := range files {
		released := apiLines(t, file)
		for _, line := range released {
			if !slices.Contains(exported, line) {
				t.Errorf("gone or changed: %s\nPrograms that import it break. Before 1.0: take the line out of %s, and say so in CHANGELOG.md under Changed", line, filepath.Base(file))
			}
		}
		added = slices.DeleteFunc(added, func(line string) bool { return slices.Contains(released, line) })
	}
	if *update {
		writeNext(t, added)
	}
	if next := apiLines(t, apiNext); !slices.Equal(next, added) {
		t.Errorf("api/next.txt is not what is new. Look at what is exported, then: go test ./test/packaging -run TestAPI -update\n%s", strings.Join(added, "\n"))
	}
}

// writeNext writes the new lines. If there are none, it removes the file.
func writeNext(t *testing.T, lines []string) {
	t.Helper()
	err := os.Remove(apiNext)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil && len(lines) > 0 {
		err = os.WriteFile(apiNext, []byte(strings.Join(lines, "\n")+"\n"), 0o644)
	}
	must(t, err)
}

// apiLines returns the lines of a file, or none if it does not exist.
func apiLines(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Split(string(text), "\n"), func(line string) bool { return line == "" })
}

// publicSurface returns everything that the importable packages export, one line each, sorted.
func publicSurface(t *testing.T) (lines []string) {
	t.Helper()
	lines = surface(t, "fiveways", "../..")
	for _, top := range []string{"worker", "semaphore"} {
		err := filepath.WalkDir(filepath.Join("../..", top), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && entry.IsDir() && entry.Name() != "testdata" {
				lines = append(lines, surface(t, strings.TrimPrefix(filepath.ToSlash(path), "../../"), path)...)
			}
			return err
		})
		must(t, err)
	}
	slices.Sort(lines)
	return lines
}

// surface returns what the package in a folder exports, or nothing if there is no package.
func surface(t *testing.T, name, dir string) (lines []string) {
	t.Helper()
	pkg, err := gobuild.ImportDir(dir, 0)
	var none *gobuild.NoGoError
	if errors.As(err, &none) {
		return nil
	} else if err != nil {
		t.Fatal(err)
	}
	for _, file := range pkg.GoFiles {
		tree, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, file), nil, parser.SkipObjectResolution)
		must(t, err)
		ast.FileExports(tree)
		for _, d := range tree.Decls {
			for _, line := range declared(d) {
				lines = append(lines, "pkg "+name+", "+line)
			}
		}
	}
	return lines
}

// declared returns the lines of a declaration, restricted to exported names.
func declared(d ast.Decl) (lines []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		receiver := ""
		if d.Recv != nil {
			receiver = source(d.Recv.List[0].Type)
			if !ast.IsExported(strings.TrimPrefix(receiver, "*")) {
				return nil
			}
			receiver = "(" + receiver + ") "
		}
		return []string{"func " + receiver + d.Name.Name + strings.TrimPrefix(source(withoutNames(d.Type)), "func")}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				lines = append(lines, typeLines(s)...)
			case *ast.ValueSpec:
				for _, n := range s.Names {
					line := d.Tok.String() + " " + n.Name
					if s.Type != nil {
						line += " " + source(s.Type)
					}
					lines = append(lines, line)
				}
			}
		}
	}
	return lines
}

// typeLines returns the lines of a type. Each field of a struct has its own line, since an
// additional field breaks no program. The methods of an interface share one line, since an
// additional method breaks its implementations.
func typeLines(s *ast.TypeSpec) []string {
	head := "type " + s.Name.Name
	if s.TypeParams != nil {
		generic := source(&ast.FuncType{TypeParams: s.TypeParams, Params: &ast.FieldList{}})
		head += strings.TrimSuffix(strings.TrimPrefix(generic, "func"), "()")
	}
	if s.Assign.IsValid() {
		head += " ="
	}
	fields, ok := s.Type.(*ast.StructType)
	if !ok {
		return []string{head + " " + source(s.Type)}
	}
	lines := []string{head + " struct"}
	for _, f := range fields.Fields.List {
		for _, n := range f.Names {
			lines = append(lines, head+" struct, "+n.Name+" "+source(f.Type))
		}
		if f.Names == nil {
			lines = append(lines, head+" struct, embedded "+source(f.Type))
		}
	}
	return lines
}

// withoutNames returns a function's type without parameter names, which do not affect callers.
func withoutNames(f *ast.FuncType) *ast.FuncType {
	unnamed := func(list *ast.FieldList) *ast.FieldList {
		if list == nil {
			return nil
		}
		var all ast.FieldList
		for _, field := range list.List {
			for range max(1, len(field.Names)) {
				all.List = append(all.List, &ast.Field{Type: field.Type})
			}
		}
		return &all
	}
	return &ast.FuncType{TypeParams: f.TypeParams, Params: unnamed(f.Params), Results: unnamed(f.Results)}
}

var space = regexp.MustCompile(`\s+`)

// source returns the source of an expression on one line, without comments.
func source(expression ast.Expr) string {
	if i, ok := expression.(*ast.InterfaceType); ok {
		return interfaceSource(i)
	}
	var b strings.Builder
	if err := printer.Fprint(&b, token.NewFileSet(), expression); err != nil {
		panic(fmt.Sprintf("packaging: source: %v", err)) // the writer cannot fail, and the tree comes from the parser
	}
	return space.ReplaceAllString(b.String(), " ")
}

// interfaceSource returns the source of an interface, with its methods sorted by name.
func interfaceSource(i *ast.InterfaceType) string {
	var all []string
	for _, m := range i.Methods.List {
		line := source(m.Type)
		if f, ok := m.Type.(*ast.FuncType); ok {
			line = m.Names[0].Name + strings.TrimPrefix(source(withoutNames(f)), "func")
		}
		all = append(all, line)
	}
	slices.Sort(all)
	return "interface { " + strings.Join(all, "; ") + " }"
}

// TestSurface checks that a change that breaks programs changes a line, and that other changes do
// not.
func TestSurface(t *testing.T) {
	of := func(code string) string {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "a.go"), []byte("package p\n"+code), 0o600))
		return strings.Join(surface(t, "p", dir), "\n")
	}
	for code, want := range map[string]string{
		"func F(a, b int, c ...string) (n int, err error) { return 0, nil }": "pkg p, func F(int, int, ...string) (int, error)",
		"func f() {}":                              "",
		"type T[V any] struct { A, B V; c int }":   "pkg p, type T[V any] struct\npkg p, type T[V any] struct, A V\npkg p, type T[V any] struct, B V",
		"func (t *T) M() {}":                       "pkg p, func (*T) M()",
		"func (t *t) M() {}":                       "",
		"type I interface { B(x int); A() error }": "pkg p, type I interface { A() error; B(int) }",
		"type A = int":                             "pkg p, type A = int",
		"const ( C K = iota; D; e )":               "pkg p, const C K\npkg p, const D",
		"var Err = 1":                              "pkg p, var Err",
	} {
		if got := of(code); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", code, got, want)
		}
	}
}
