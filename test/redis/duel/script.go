package duel

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// script is a sequence from a file.
type script struct {
	name  string // file and line
	steps []Step
}

// Scripts runs the scripts of testdata.
func (d *Duel) Scripts(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		scripts, err := readScripts(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range scripts {
			d.Play(s.name, slices.Values(s.steps))
		}
	}
}

// readScripts reads a file of scripts.
func readScripts(name string) (all []script, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var s script
	var about Step // the flags for the next step
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		switch {
		case line == "" && len(s.steps) > 0:
			all = append(all, s)
			s = script{}
		case line == "":
		case line == "# sorted":
			about.Sorted = true
		case line == "# expires":
			about.Expires = true
		case line[0] == '#':
		default:
			if len(s.steps) == 0 {
				s.name = fmt.Sprintf("%s:%d", name, n)
			}
			step, err := ParseStep(line)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, n, err)
			}
			step.Sorted, step.Expires, about = about.Sorted, about.Expires, Step{}
			s.steps = append(s.steps, step)
		}
	}
	if len(s.steps) > 0 {
		all = append(all, s)
	}
	return all, lines.Err()
}
