package duel

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Script is one script of a file: a paragraph that begins with "#" and its name.
type Script struct {
	Name  string
	Steps []Step
}

// ReadScripts reads all scripts of a file.
func ReadScripts(file string) (scripts []Script, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for _, paragraph := range strings.Split(string(text), "\n\n") {
		s := Script{Name: filepath.Base(file)}
		for _, line := range strings.Split(strings.TrimSpace(paragraph), "\n") {
			if comment, ok := strings.CutPrefix(line, "#"); ok {
				s.Name += ": " + strings.TrimSpace(comment)
				continue
			}
			if line == "" {
				continue
			}
			if newer, ok := strings.CutPrefix(line, "= "); ok && len(s.Steps) > 0 {
				s.Steps[len(s.Steps)-1].Newer = newer
				continue
			}
			step, err := ParseStep(line)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.Name, err)
			}
			s.Steps = append(s.Steps, step)
		}
		if len(s.Steps) > 0 {
			scripts = append(scripts, s)
		}
	}
	return scripts, nil
}

// Scripts runs all scripts of the folder testdata, each as a subtest, and returns their number.
func (d *Duel) Scripts(t *testing.T) (n int) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, file := range files {
		scripts, err := ReadScripts(file)
		if err != nil {
			t.Fatal(err)
		}
		n += len(scripts)
		for _, s := range scripts {
			t.Run(s.Name, func(t *testing.T) { (&Duel{t: t, Peers: d.Peers}).Play(s.Name, slices.Values(s.Steps)) })
		}
	}
	return n
}
