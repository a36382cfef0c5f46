package duel

import (
	"fmt"
	"strconv"
	"strings"
)

// Step is what one connection sends in one write.
type Step struct {
	Conn     string
	Commands [][]string
	Raw      string // bytes to send instead of commands

	Sorted  bool // the order of its reply is arbitrary
	Expires bool // it blocks until its timeout
}

// Command returns a step with one command.
func Command(conn string, words ...string) Step { return Step{Conn: conn, Commands: [][]string{words}} }

// Text returns the step in the form of a script.
func (s Step) Text() string {
	if s.Raw != "" {
		return "raw " + strconv.Quote(s.Raw)
	}
	var commands []string
	for _, words := range s.Commands {
		written := make([]string, len(words))
		for i, w := range words {
			if written[i] = w; w == "" || w == "raw" || strings.ContainsFunc(w, special) {
				written[i] = strconv.Quote(w)
			}
		}
		commands = append(commands, strings.Join(written, " "))
	}
	return strings.Join(commands, ";")
}

// special reports whether a word with this rune is written as a Go string.
func special(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == ';' || r == '>' }

func (s Step) String() string { return s.Conn + "> " + s.Text() }

// ParseStep parses a line of a script.
func ParseStep(line string) (s Step, err error) {
	s.Conn = "1"
	if name, rest, ok := strings.Cut(line, "> "); ok && !strings.ContainsAny(name, ` ";`) {
		s.Conn, line = name, rest
	}
	if raw, ok := strings.CutPrefix(line, "raw "); ok {
		s.Raw, err = strconv.Unquote(raw)
		return s, err
	}
	for more := true; more; {
		var words []string
		if words, line, more, err = cutCommand(line); err != nil {
			return s, err
		}
		if len(words) == 0 {
			return s, fmt.Errorf("no command before %q", line)
		}
		s.Commands = append(s.Commands, words)
	}
	return s, nil
}

// cutCommand reads the words before the first semicolon, and reports whether there is one.
func cutCommand(line string) (words []string, rest string, more bool, err error) {
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		switch line[0] {
		case ';':
			return words, line[1:], true, nil
		case '"':
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				return nil, "", false, err
			}
			word, err := strconv.Unquote(quoted)
			if err != nil {
				return nil, "", false, err
			}
			words, line = append(words, word), line[len(quoted):]
		default:
			end := strings.IndexAny(line, " ;")
			if end < 0 {
				end = len(line)
			}
			words, line = append(words, line[:end]), line[end:]
		}
	}
	return words, "", false, nil
}
