package conformance

import (
	"fmt"
	"regexp"
	"strings"
)

// superuser is the user of a script's first session.
const superuser = "guest"

// answerPrefix begins each line of a server's answer.
const answerPrefix = "--> "

// step is one statement of a script, or the end of a session.
type step struct {
	line    int
	session string
	user    string
	sql     string // "" closes the session, or with answer shows what an earlier statement got
	keep    string
	wait    bool
	answer  bool
	want    []string
	at      int // index of the script's line after which the answer stands
}

// script is a parsed file. lines are its lines without the answers.
type script struct {
	lines []string
	steps []step
}

var directive = regexp.MustCompile(`^-- (session|close|keep|wait|answer)\b *(\w*)(?: as (\w+))?$`)

// parse parses a script.
func parse(text string) (s script, err error) {
	users := map[string]string{"a": superuser}
	next := step{session: "a"}
	var statement []string
	add := func(st step, line int) {
		st.line, st.user, st.at = line, users[st.session], len(s.lines)
		s.steps = append(s.steps, st)
		next = step{session: next.session}
	}
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if answer, ok := strings.CutPrefix(line, strings.TrimSpace(answerPrefix)); ok && statement == nil {
			if len(s.steps) == 0 {
				return s, fmt.Errorf("line %d: an answer to nothing", i+1)
			}
			last := &s.steps[len(s.steps)-1]
			last.want = append(last.want, strings.TrimPrefix(answer, " "))
			continue
		}
		s.lines = append(s.lines, line)
		m := directive.FindStringSubmatch(line)
		switch {
		case statement == nil && m != nil:
			switch m[1] {
			case "session":
				next.session = m[2]
				if users[m[2]] == "" {
					users[m[2]] = superuser
				}
				if m[3] != "" {
					users[m[2]] = m[3]
				}
			case "close":
				add(step{session: m[2]}, i+1)
			case "answer":
				add(step{session: m[2], answer: true}, i+1)
			case "keep":
				next.keep = m[2]
			case "wait":
				next.wait = true
			}
		case statement == nil && (strings.HasPrefix(line, "--") || strings.TrimSpace(line) == ""):
		default:
			statement = append(statement, line)
			if strings.HasSuffix(line, ";") {
				next.sql = strings.Join(statement, "\n")
				statement = nil
				add(next, i+1)
			}
		}
	}
	if statement != nil {
		return s, fmt.Errorf("a statement without ';' at its end: %s", strings.Join(statement, " "))
	}
	return s, nil
}

// format formats the script with new answers, one for each step.
func (s script) format(answers [][]string) string {
	var b strings.Builder
	done := 0
	for i, st := range s.steps {
		for ; done < st.at; done++ {
			fmt.Fprintln(&b, s.lines[done])
		}
		for _, line := range answers[i] {
			fmt.Fprintln(&b, strings.TrimRight(answerPrefix+line, " "))
		}
	}
	for ; done < len(s.lines); done++ {
		fmt.Fprintln(&b, s.lines[done])
	}
	return b.String()
}

var placeholder = regexp.MustCompile(`:([a-z]\w*)\b`)

// fill inserts kept values into a statement as literals.
func fill(sql string, kept map[string]string) string {
	return placeholder.ReplaceAllStringFunc(sql, func(name string) string {
		value, ok := kept[name[1:]]
		if !ok {
			return name // ::type and the like
		}
		return "'" + strings.ReplaceAll(value, "'", "''") + "'"
	})
}
