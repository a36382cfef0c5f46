package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// in runs a command in a folder and returns its output.
func in(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// root returns the absolute path of this repository.
func root(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../..")
	must(t, err)
	return path
}

// TestImport checks that the program of docs/features/embedding.md prints what the page says. It is
// built in its own module, with this checkout in place of the module.
func TestImport(t *testing.T) {
	page, err := os.ReadFile("../../docs/features/embedding.md")
	must(t, err)
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```\n\n```\n(.*?)```").FindStringSubmatch(string(page))
	if blocks == nil {
		t.Fatal("the page has no program with its output")
	}
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(blocks[1]), 0o600))
	in(t, dir, "go", "mod", "init", "example.com/program")
	in(t, dir, "go", "mod", "edit", "-replace", modulePath(t)+"="+root(t))
	tidy := exec.Command("go", "mod", "tidy") // may need the network
	tidy.Dir = dir
	if out, err := tidy.CombinedOutput(); err != nil {
		giveUp(t, "go mod tidy: %v\n%s", err, out)
	}
	in(t, dir, "go", "build", "-o", "program", ".")
	if got := in(t, dir, "./program"); got != blocks[2] {
		t.Errorf("it prints\n%s\nthe page says\n%s", got, blocks[2])
	}
}

// modulePath returns the path of this module.
func modulePath(t *testing.T) string {
	t.Helper()
	return strings.TrimSpace(output(t, "go", "list", "-m"))
}

// TestRename checks that after `make rename` nothing contains the old path, and that every import
// is found.
func TestRename(t *testing.T) {
	needs(t, "git", "make", "tar")
	old, renamed := modulePath(t), "git.example.com/queues/five"
	copied := t.TempDir()
	output(t, "sh", "-c", `cd "$0" && git ls-files --cached --others --exclude-standard | while read -r f; do [ ! -f "$f" ] || echo "$f"; done | tar --create --files-from - | tar --extract --directory "$1"`, root(t), copied)
	in(t, copied, "git", "init", "--quiet")
	in(t, copied, "git", "add", "--all")
	in(t, copied, "make", "rename", "MODULE="+renamed)
	if left, err := exec.Command("git", "-C", copied, "grep", "--fixed-strings", "--files-with-matches", old).Output(); err == nil {
		t.Errorf("the old path is left in\n%s", left)
	}
	list := in(t, copied, "go", "list", "-deps", "-test", "./...")
	if strings.Contains(list, old) || !strings.Contains(list, renamed+"/worker\n") {
		t.Errorf("packages:\n%s", list)
	}
	if unformatted := in(t, copied, "gofmt", "-l", "."); unformatted != "" {
		t.Errorf("not formatted:\n%s", unformatted)
	}
}
