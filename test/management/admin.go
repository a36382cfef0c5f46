package management

import (
	"encoding/json"
	"errors"
	"os/exec"
	"strings"

	"fiveways.dev/fiveways/test/rabbitmq"
)

// admin runs the rabbitmqadmin command of a line, whose arguments are separated by spaces and
// contain none. The answer is its output: JSON, or lines, which are sorted unless the line asks for
// an order.
func (p *player) admin(line string) (a answer, text string, err error) {
	args := strings.Fields(line)[1:]
	for i := range args {
		args[i] = strings.NewReplacer("{dir}", p.dir, "{node}", p.node).Replace(args[i])
		for name, c := range p.clients {
			args[i] = strings.ReplaceAll(args[i], "{"+name+"}", c.name)
		}
	}
	cmd, err := rabbitmq.Admin(p.http, args...)
	if err != nil {
		return a, "", err
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		a.status, err = exit.ExitCode(), nil
	}
	text = strings.ReplaceAll(p.nameless(string(out)), p.dir, "{dir}")
	text = strings.ReplaceAll(text, p.http, "{http}")
	a.empty = strings.TrimSpace(text) == ""
	if a.empty {
		return a, text, err
	}
	ordered := strings.Contains(line, " -S ")
	if !json.Valid([]byte(text)) {
		b, err := json.Marshal(strings.Split(strings.TrimSpace(text), "\n"))
		if err != nil {
			return a, text, err
		}
		a.body = shape(b, ordered)
		return a, text, nil
	}
	a.body = shape([]byte(text), ordered)
	return a, text, err
}
