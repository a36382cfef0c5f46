package oracle

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	caseMark    = "== "
	answersMark = "----"
	oursMark    = "---- fiveways: "
)

// file is one file of cases.
type file struct {
	path  string
	intro string // comment lines before the first case
	cases []*testCase
}

// testCase is a script with the expected answers.
type testCase struct {
	name   string
	script []string
	rabbit []string // what RabbitMQ answers
	reason string   // why Fiveways answers differently; "" if it does not
	ours   []string // what Fiveways then answers
}

// want returns the answers expected from Fiveways.
func (c *testCase) want() []string {
	if c.reason != "" {
		return c.ours
	}
	return c.rabbit
}

// readFiles reads the cases of a folder. Names of cases are unique.
func readFiles(dir string) ([]*file, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, fmt.Errorf("oracle: read cases: %w", err)
	}
	seen := map[string]bool{}
	var files []*file
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("oracle: read cases: %w", err)
		}
		f, err := parseFile(path, string(b))
		if err != nil {
			return nil, err
		}
		for _, c := range f.cases {
			if seen[c.name] {
				return nil, fmt.Errorf("oracle: %s: two cases are called %q", path, c.name)
			}
			seen[c.name] = true
		}
		files = append(files, f)
	}
	return files, nil
}

func parseFile(path, text string) (*file, error) {
	f := &file{path: path}
	var c *testCase
	var lines *[]string
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case strings.HasPrefix(line, caseMark):
			c = &testCase{name: strings.TrimPrefix(line, caseMark)}
			f.cases = append(f.cases, c)
			lines = &c.script
		case c == nil:
			f.intro += line + "\n"
		case line == answersMark:
			lines = &c.rabbit
		case strings.HasPrefix(line, oursMark):
			c.reason = strings.TrimPrefix(line, oursMark)
			lines = &c.ours
		case strings.HasPrefix(line, answersMark):
			return nil, fmt.Errorf("oracle: %s: %s: what is %q", path, c.name, line)
		case line != "":
			*lines = append(*lines, line)
		}
	}
	return f, nil
}

// write writes the file with its current recordings.
func (f *file) write() error {
	var s strings.Builder
	s.WriteString(f.intro)
	for i, c := range f.cases {
		if i > 0 {
			s.WriteByte('\n')
		}
		parts := slices.Concat([]string{caseMark + c.name}, c.script, []string{answersMark}, c.rabbit)
		if c.reason != "" {
			parts = slices.Concat(parts, []string{oursMark + c.reason}, c.ours)
		}
		for _, line := range parts {
			s.WriteString(line + "\n")
		}
	}
	if err := os.WriteFile(f.path, []byte(s.String()), 0o644); err != nil {
		return fmt.Errorf("oracle: write cases: %w", err)
	}
	return nil
}
