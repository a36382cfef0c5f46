package web

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"
)

var (
	imports  = regexp.MustCompile(`(?m)^import (?:(\w+)|\* as (\w+)|\{(.*?)\}) from "(.*?)";$`)
	exported = regexp.MustCompile(`(?m)^export (?:const|async function|function|class) (\w+)`)
	markup   = regexp.MustCompile(`\.innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|\beval\(|new Function`)
)

// scripts returns the modules of the page, except third-party ones.
func scripts(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := fs.WalkDir(Files, "js", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(Files, name)
		found[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestModules detects broken and unused imports, which nothing else does without a build step.
func TestModules(t *testing.T) {
	all := scripts(t)
	used := map[string]bool{} // by file and name
	for name, text := range all {
		body := imports.ReplaceAllString(text, "")
		for _, m := range imports.FindAllStringSubmatch(text, -1) {
			from := path.Join(path.Dir(name), m[4])
			if _, err := fs.Stat(Files, from); err != nil {
				t.Errorf("%s imports %s, which is not there", name, m[4])
			}
			if m[2] != "" { // the whole module
				for _, e := range exported.FindAllStringSubmatch(all[from], -1) {
					used[from+" "+e[1]] = strings.Contains(body, m[2]+"."+e[1]) || used[from+" "+e[1]]
				}
			}
			for n := range strings.SplitSeq(m[1]+m[2]+m[3], ",") {
				theirs, here, renamed := strings.Cut(strings.TrimSpace(n), " as ")
				if !renamed {
					here = theirs
				}
				used[from+" "+theirs] = true
				if !regexp.MustCompile(`\b` + here + `\b`).MatchString(body) {
					t.Errorf("%s imports %s and has no use for it", name, here)
				}
			}
		}
	}
	for name, text := range all {
		body := imports.ReplaceAllString(text, "")
		for _, m := range exported.FindAllStringSubmatch(text, -1) {
			if !used[name+" "+m[1]] {
				t.Errorf("%s exports %s, which no module imports", name, m[1])
			}
		}
		if found := markup.FindString(body); found != "" {
			t.Errorf("%s has %s: text must not become markup or a script", name, found)
		}
	}
}
