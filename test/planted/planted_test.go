package planted

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// root is the folder of the module.
const root = "../.."

// TestBugsFit checks that the text that each bug changes is in the sources, and that the changed
// sources compile.
func TestBugsFit(t *testing.T) {
	packages := map[string][]edit{}
	for _, b := range bugs {
		regexp.MustCompile(b.found)
		for _, e := range b.edits {
			packages[filepath.Dir(e.file)] = append(packages[filepath.Dir(e.file)], e)
		}
	}
	for dir, edits := range packages {
		t.Run(dir, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay(t, edits), "./"+dir)
			cmd.Dir = root
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// overlay writes changed copies of files, and the file that makes the compiler use them.
func overlay(t *testing.T, edits []edit) (path string) {
	t.Helper()
	dir := t.TempDir()
	changed := map[string]string{} // content by file
	for _, e := range edits {
		if _, ok := changed[e.file]; !ok {
			b, err := os.ReadFile(filepath.Join(root, e.file))
			must(t, err)
			changed[e.file] = string(b)
		}
		if n := strings.Count(changed[e.file], e.from); n != 1 {
			t.Fatalf("a bug is to be planted in %s, which has the text that it changes %d times, not once; change bugs_test.go:\n%s", e.file, n, e.from)
		}
		changed[e.file] = strings.Replace(changed[e.file], e.from, e.to, 1)
	}
	replace := map[string]string{} // copies by file
	for file, content := range changed {
		original, err := filepath.Abs(filepath.Join(root, file))
		must(t, err)
		replace[original] = filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		must(t, os.WriteFile(replace[original], []byte(content), 0o600))
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	must(t, err)
	path = filepath.Join(dir, "overlay.json")
	must(t, os.WriteFile(path, b, 0o600))
	return path
}

// TestPlanted checks that each bug whose name matches the regular expression PLANTED is found.
func TestPlanted(t *testing.T) {
	names := os.Getenv("PLANTED")
	if names == "" {
		t.Skip("takes half a minute for each bug: PLANTED says for which")
	}
	chosen := regexp.MustCompile(names)
	tests := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "test", "-c", "-o", tests, "./test/crash", "./test/cluster")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, b := range bugs {
		if chosen.MatchString(b.name) {
			t.Run(b.name, func(t *testing.T) { b.find(t, filepath.Join(tests, b.in+".test")) })
		}
	}
}

var (
	// strikes matches what TestClusterFaults logs for each fault.
	strikes = regexp.MustCompile(`\(node \d, clients at node \d\)`)
	// killed matches what TestCrash logs at the end.
	killed = regexp.MustCompile(`\d+ crashes`)
)

// rounds returns how many rounds it took to find a bug.
func rounds(out []byte) string {
	if n := len(strikes.FindAll(out, -1)); n > 0 {
		return fmt.Sprint(n, " faults")
	}
	return cmp.Or(string(killed.Find(out)), "one run")
}

// find runs the test that must find the bug, a compiled test binary, on a broker with the bug.
func (b *bug) find(t *testing.T, tests string) {
	t.Helper()
	test := exec.CommandContext(t.Context(), tests, "-test.v", "-test.failfast", "-test.run", "^"+b.test)
	test.Dir = filepath.Join(root, "test", b.in)
	// The test builds the broker and its next version with these flags.
	test.Env = append(os.Environ(), "GOFLAGS=-overlay="+overlay(t, b.edits), "BROKERTEST_BIN=")
	test.Env = append(test.Env, b.env...)
	begun := time.Now()
	out, err := test.CombinedOutput()
	lines := strings.Split(string(out), "\n")
	found := regexp.MustCompile(b.found)
	at := slices.IndexFunc(lines, found.MatchString)
	if err == nil || at < 0 {
		t.Fatalf("%s ended with %v, and nothing in it matches %q:\n%s", b.test, err, b.found, out)
	}
	t.Logf("%s, after %s and %.0f s: %s", b.test, rounds(out), time.Since(begun).Seconds(), strings.TrimSpace(lines[at]))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
