package lint

import (
	"go/ast"
	"strings"
	"testing"
	"unicode/utf8"
)

func isCall(n ast.Node, pkg, name string) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := sel.X.(*ast.Ident)
	return ok && x.Name == pkg && sel.Sel.Name == name
}

// noSleep refuses time.Sleep in tests, except in a synctest bubble, where time is faked.
func noSleep(s source) (complaints []string) {
	if !s.isTest() {
		return nil
	}
	ast.Inspect(s.file, func(n ast.Node) bool {
		if isCall(n, "synctest", "Test") {
			return false
		}
		if isCall(n, "time", "Sleep") {
			complaints = append(complaints, s.at(n)+": a test waits on a signal or in a synctest bubble, not with time.Sleep")
		}
		return true
	})
	return complaints
}

// noAssertions refuses assertion libraries.
func noAssertions(s source) (complaints []string) {
	for imported, spec := range s.imports() {
		if strings.Contains(imported, "/testify") {
			complaints = append(complaints, s.at(spec)+": tests use the standard library, not "+imported)
		}
	}
	return complaints
}

// commentWidth is the maximum width of a comment line in columns, where a tab counts four.
const commentWidth = 100

// commentsFit rejects comments that are too wide and not beside code. Indented text in a comment,
// such as a table, and URLs are exempt.
func commentsFit(s source) (complaints []string) {
	code := map[int]bool{} // lines on which code begins
	ast.Inspect(s.file, func(n ast.Node) bool {
		switch n.(type) {
		case nil, *ast.Comment, *ast.CommentGroup:
			return false
		}
		code[s.fset.Position(n.Pos()).Line] = true
		return true
	})
	for _, group := range s.file.Comments {
		for _, c := range group.List {
			at := s.fset.Position(c.Pos())
			width := 4*(at.Column-1) + utf8.RuneCountInString(c.Text) // tabs stand before it
			if !code[at.Line] && strings.HasPrefix(c.Text, "// ") && width > commentWidth && !strings.Contains(c.Text, "://") {
				complaints = append(complaints, s.at(c)+": a comment is at most 100 columns wide")
			}
		}
	}
	return complaints
}

func TestCommentsFit(t *testing.T) {
	everywhere(t, commentsFit)
	wide := strings.Repeat("wide ", 20)
	catches(t, commentsFit, []planted{
		{"beside code", "a.go", "package a\n\nvar a int // " + wide, false},
		{"an address", "a.go", "package a\n\n// https://" + wide, false},
		{"a table", "a.go", "package a\n\n//\t" + wide, false},
		{"too wide", "a.go", "package a\n\n// " + wide, true},
		{"too wide where it stands", "a.go", "package a\n\nfunc f() {\n\t// " + wide[:96] + "\n}", true},
	})
}

func TestNoSleepInTests(t *testing.T) {
	everywhere(t, noSleep)
	catches(t, noSleep, []planted{
		{"a bubble", "a_test.go", `package a; func f() { synctest.Test(t, func(t *testing.T) { time.Sleep(1) }) }`, false},
		{"not a test", "a.go", `package a; func f() { time.Sleep(1) }`, false},
		{"a sleep", "a_test.go", `package a; func f() { time.Sleep(1) }`, true},
		{"beside a bubble", "a_test.go", `package a; func f() { synctest.Test(t, func(t *testing.T) {}); time.Sleep(1) }`, true},
	})
}

func TestNoAssertionLibrary(t *testing.T) {
	everywhere(t, noAssertions)
	catches(t, noAssertions, []planted{
		{"testing", "a_test.go", `package a; import _ "testing"`, false},
		{"testify", "a_test.go", `package a; import _ "github.com/stretchr/testify/require"`, true},
	})
}

// undocumented returns the packages that have no file with a package comment.
func undocumented(all []source) (missing []string) {
	documented := map[string]bool{}
	for _, s := range all {
		if strings.HasSuffix(s.file.Name.Name, "_test") {
			continue // an external test package belongs to the one it tests
		}
		documented[s.pkg()] = documented[s.pkg()] || s.file.Doc != nil && !s.isTest()
	}
	for pkg, ok := range documented {
		if !ok {
			missing = append(missing, pkg)
		}
	}
	return missing
}

func TestPackageComments(t *testing.T) {
	for _, pkg := range undocumented(module(t)) {
		t.Errorf("package %s: no comment is attached to a package clause; write doc.go", pkg)
	}
	planted := []source{
		parse(t, "a/a.go", "// Package a is.\npackage a"), parse(t, "a/b.go", "package a"),
		parse(t, "b/b.go", "// Package b is cut off.\n\npackage b"),
	}
	if got := undocumented(planted); len(got) != 1 || got[0] != "b" {
		t.Errorf("undocumented %q, want b alone", got)
	}
}
