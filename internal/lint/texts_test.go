package lint

import (
	"go/ast"
	"go/token"
	"regexp"
	"strings"
	"testing"
)

// ofRepository matches the path of a file that only the repository has.
var ofRepository = regexp.MustCompile(`\b(docs|deploy)/[a-z]`)

// farTexts returns the texts of a program that name such a file.
func farTexts(s source) (complaints []string) {
	ast.Inspect(s.file, func(n ast.Node) bool {
		if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING && ofRepository.MatchString(text.Value) {
			complaints = append(complaints, s.at(n)+": "+text.Value+" names a file of the repository; name a command")
		}
		return true
	})
	return complaints
}

// TestTextsNameNoFileOfTheRepository: what the programs print helps users without the repository.
func TestTextsNameNoFileOfTheRepository(t *testing.T) {
	if len(farTexts(parse(t, "a.go", "package a; const hint = `see docs/cluster.md`"))) != 1 {
		t.Error("a text that names such a file is not found")
	}
	for _, s := range module(t) {
		if s.isTest() || !strings.HasPrefix(s.name, "internal/") && !strings.HasPrefix(s.name, "cmd/") || strings.HasPrefix(s.name, "internal/lint/") {
			continue
		}
		for _, c := range farTexts(s) {
			t.Error(c)
		}
	}
}
