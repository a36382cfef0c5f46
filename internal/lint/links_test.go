package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var markdownLink = regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`)

// deadLinks returns the relative links of a Markdown text that exists does not know.
func deadLinks(text string, exists func(target string) bool) (dead []string) {
	for _, m := range markdownLink.FindAllStringSubmatch(text, -1) {
		if target := m[1]; !strings.Contains(target, "://") && !exists(target) {
			dead = append(dead, target)
		}
	}
	return dead
}

func TestDocumentLinks(t *testing.T) {
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "examples/*/*.md"} {
		found, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	if len(pages) < 3 {
		t.Fatalf("found only the pages %q", pages)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, target := range deadLinks(string(text), func(target string) bool {
			_, err := os.Stat(filepath.Join(filepath.Dir(page), target))
			return err == nil
		}) {
			t.Errorf("%s links to %s, which does not exist", page, target)
		}
	}
	got := deadLinks("[a](here.md#x) [b](gone.md) [c](https://example.org/d)", func(s string) bool { return s == "here.md" })
	if len(got) != 1 || got[0] != "gone.md" {
		t.Errorf("dead links %q, want gone.md alone", got)
	}
}
