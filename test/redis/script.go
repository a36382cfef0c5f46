package redis

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// script is a sequence of a file.
type script struct {
	name  string // file and line
	steps []step
}

// readScripts reads a file of scripts.
func readScripts(name string) ([]script, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []script
	var s script
	var about step // what was said of the next command
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
			about.sorted = true
		case line == "# expires":
			about.expires = true
		case line[0] == '#':
		default:
			if len(s.steps) == 0 {
				s.name = fmt.Sprintf("%s:%d", name, n)
			}
			one, err := readStep(line)
			if err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, n, err)
			}
			one.sorted, one.expires, about = about.sorted, about.expires, step{}
			s.steps = append(s.steps, one)
		}
	}
	if len(s.steps) > 0 {
		all = append(all, s)
	}
	return all, lines.Err()
}

// readStep reads a line: words, or Go strings in double quotes.
func readStep(line string) (s step, err error) {
	s.conn = 1
	if number, rest, ok := strings.Cut(line, "> "); ok {
		if n, err := strconv.Atoi(number); err == nil {
			s.conn, line = n, rest
		}
	}
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if line[0] == '"' {
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				return s, err
			}
			word, err := strconv.Unquote(quoted)
			if err != nil {
				return s, err
			}
			s.words, line = append(s.words, word), line[len(quoted):]
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		s.words, line = append(s.words, word), rest
	}
	return s, nil
}
