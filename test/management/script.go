package management

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// step is one line of a script with RabbitMQ's answer. A request is `USER METHOD PATH [BODY]`; the
// password is the user's name, and - means no user. The prefix `until TEXT` repeats a request until
// the answer contains the text. `amqp NAME VERB …` is run by an AMQP client. `rabbitmqadmin …` is
// run by that program, and its exit code is the status.
type step struct {
	comments []string // lines before it
	until    string
	line     string
	answer   string // as recorded: the status and a JSON text, which may have several lines
}

// readScript reads a file of steps separated by empty lines.
func readScript(file string) ([]step, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var steps []step
	for i, block := range strings.Split(string(text), "\n\n") {
		var s step
		lines := strings.Split(strings.Trim(block, "\n"), "\n")
		for len(lines) > 0 && strings.HasPrefix(lines[0], "#") {
			s.comments, lines = append(s.comments, lines[0]), lines[1:]
		}
		if len(lines) > 0 && strings.HasPrefix(lines[0], "until ") {
			s.until, lines = strings.TrimPrefix(lines[0], "until "), lines[1:]
		}
		if len(lines) == 0 || lines[0] == "" {
			return nil, fmt.Errorf("%s: block %d has no request", file, i+1)
		}
		s.line, s.answer = lines[0], strings.Join(lines[1:], "\n")
		steps = append(steps, s)
	}
	return steps, nil
}

// writeScript writes a file that readScript can read.
func writeScript(file string, steps []step) error {
	var b strings.Builder
	for i, s := range steps {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, c := range s.comments {
			fmt.Fprintln(&b, c)
		}
		if s.until != "" {
			fmt.Fprintln(&b, "until", s.until)
		}
		fmt.Fprintf(&b, "%s\n%s\n", s.line, s.answer)
	}
	return os.WriteFile(file, []byte(b.String()), 0o644)
}

// answer is the result of a step: a status, which is 0 for an AMQP client, and a JSON value or
// nothing.
type answer struct {
	status int
	body   any // as decoded by encoding/json; a text that is not JSON is a string
	empty  bool
}

// text returns the answer in the form of a script.
func (a answer) text() string {
	if a.empty {
		return fmt.Sprint(a.status)
	}
	const most = 140 // maximum characters per line
	b, err := json.Marshal(a.body)
	if len(b) > most {
		b, err = json.MarshalIndent(a.body, "", " ")
	}
	if err != nil {
		panic(err) // it came from JSON
	}
	return fmt.Sprintf("%d %s", a.status, b)
}

// readAnswer parses the result of text.
func readAnswer(text string) (a answer, err error) {
	status, body, found := strings.Cut(text, " ")
	if _, err := fmt.Sscan(status, &a.status); err != nil {
		return a, fmt.Errorf("answer %q: %w", status, err)
	}
	a.empty = !found
	if found {
		err = json.Unmarshal([]byte(body), &a.body)
	}
	return a, err
}
