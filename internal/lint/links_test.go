package lint

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var markdownLink = regexp.MustCompile(`\]\(([^)#]+)[^)]*\)`)

// pages returns the Markdown pages of this repository, by their paths from the module's root.
func pages(t *testing.T) (pages []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "examples/*/*.md", "web/vendor/*.md"} {
		found, err := filepath.Glob(filepath.Join("../..", pattern))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	if len(pages) < 3 {
		t.Fatalf("found only the pages %q", pages)
	}
	return pages
}

// deadLinks returns the relative links of a Markdown text whose targets do not exist.
func deadLinks(text string, exists func(target string) bool) (dead []string) {
	for _, m := range markdownLink.FindAllStringSubmatch(text, -1) {
		if target := m[1]; !strings.Contains(target, "://") && !exists(target) {
			dead = append(dead, target)
		}
	}
	return dead
}

func TestDocumentLinks(t *testing.T) {
	for _, page := range pages(t) {
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

var (
	anchorLink = regexp.MustCompile(`\]\(([^)#:]*)#([^)]+)\)`)
	heading    = regexp.MustCompile(`(?m)^#+ (.*)$`)
	linkTarget = regexp.MustCompile(`\]\([^)]*\)`)
	notInSlug  = regexp.MustCompile(`[^\pL\pN _-]`)
)

// anchors returns the anchors that a link to a Markdown text may have after #: its headings, as
// GitHub spells them.
func anchors(text string) map[string]bool {
	known := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
		words := notInSlug.ReplaceAllString(strings.ToLower(linkTarget.ReplaceAllString(m[1], "]")), "")
		known[strings.ReplaceAll(words, " ", "-")] = true
	}
	return known
}

func TestDocumentAnchors(t *testing.T) {
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range anchorLink.FindAllStringSubmatch(string(text), -1) {
			target := page
			if m[1] != "" {
				target = filepath.Join(filepath.Dir(page), m[1])
			}
			there, err := os.ReadFile(target)
			if strings.HasSuffix(target, ".md") && err == nil && !anchors(string(there))[m[2]] {
				t.Errorf("%s links to %s#%s, which has no such heading", page, m[1], m[2])
			}
		}
	}
	got := anchors("# A page\n## What is `x-y`, and [why](z.md)?\n```\n# not one\n```\n")
	if len(got) != 2 || !got["a-page"] || !got["what-is-x-y-and-why"] {
		t.Errorf("the anchors are %v", got)
	}
}

var (
	codeBlock  = regexp.MustCompile("(?s)```.*?```")
	quotedName = regexp.MustCompile("`([^`\\s]+)`")
	// fileName matches the name of a file of the module, with any part of its path before it.
	fileName = regexp.MustCompile(`^\w[\w./-]*\.(go|md|sh|js|py|toml|txt)$`)
	// folderName matches the path of a folder from the module's root.
	folderName = regexp.MustCompile(`^(internal|test|docs|cmd|web|deploy|examples)/[\w/-]+$`)
)

// goneNames returns the names of files and folders in a Markdown text that do not exist.
func goneNames(text string, exists func(name string) bool) (gone []string) {
	for _, m := range quotedName.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
		name := strings.TrimSuffix(m[1], "/")
		if (fileName.MatchString(name) || folderName.MatchString(name)) && !exists(name) {
			gone = append(gone, name)
		}
	}
	return gone
}

// TestDocumentedNames checks that each file that a page names exists somewhere under that name.
// CHANGELOG.md may name old files.
func TestDocumentedNames(t *testing.T) {
	names := map[string]bool{"twisted_adapter_tests.py": true} // of another project
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (path != "../.." && strings.HasPrefix(d.Name(), ".") || d.Name() == "node_modules") {
			return filepath.SkipDir
		}
		for rest, more := filepath.ToSlash(path), true; more; _, rest, more = strings.Cut(rest, "/") {
			names[rest] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages(t) {
		if filepath.Base(page) == "CHANGELOG.md" {
			continue
		}
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range goneNames(string(text), func(name string) bool { return names[name] }) {
			t.Errorf("%s names %s, which does not exist", page, name)
		}
	}
	got := goneNames("`a/here.go` `gone.go` `internal/gone/` `x.y` `/etc/a.txt`\n```\n`out.go`\n```", func(s string) bool { return s == "a/here.go" })
	if strings.Join(got, " ") != "gone.go internal/gone" {
		t.Errorf("gone names %q, want gone.go and internal/gone", got)
	}
}
