package cli

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// notPlayed are the examples that this test cannot run, by their beginnings, with the reasons.
var notPlayed = []struct{ begin, why string }{
	{"fiveways serve", "does not end"},
	{"FIVEWAYS_SYNC=os fiveways serve", "does not end"},
	{"fiveways semaphore watch", "does not end"},
	{"fiveways overview --watch", "does not end"},
	{"fiveways bench", "takes long"},
	{"fiveways demo", "takes long"},
	{"fiveways job take urgent", "takes long"},
	{"fiveways config --config", "a file of the reader's"},
	{"fiveways health --", "a broker of the reader's"},
	{"fiveways semaphore list --url", "a broker of the reader's"},
	{"fiveways backup - --url", "a broker of the reader's"},
	{"zstd", "a program that may be missing"},
	{"fiveways shovel --from amqp://app@old", "a broker of the reader's"},
	{"fiveways shovel --from-queue audit", "a broker of the reader's"},
	{"fiveways migrate rabbitmq --from", "a RabbitMQ of the reader's"},
	{"fiveways migrate carmine", "a Redis of the reader's"},
	{"fiveways cluster", "nodes of the reader's, as test/cluster has them"},
	{"fiveways job list --url carmine:", "a Redis of the reader's"},
	{"PGPASSWORD=", "a PostgreSQL of the reader's"},
	{"psql", "a PostgreSQL of the reader's"},
	{"fiveways semaphore install postgres:", "a PostgreSQL of the reader's"},
	{"fiveways sql install", "a PostgreSQL of the reader's"},
	{"fiveways sql print | psql", "a PostgreSQL of the reader's"},
	{"fiveways connection close '", "a connection of the reader's"},
	{"fiveways channel show", "a connection of the reader's"},
	{"fiveways connection show", "a connection of the reader's"},
	{"fiveways task s", "a task of the reader's"},
	{"fiveways doctor ./", "a folder at rest"},
	{"cp -a", "a folder at rest"},
}

// refused are the examples that are refused here, by their beginnings, with the error: a token
// belongs to one job only, and there is no terminal.
var refused = []struct{ begin, says string }{
	{"fiveways job done mail welcome-1", "`fiveways job status"},
	{"fiveways job extend", "`fiveways job status"},
	{"fiveways job fail", "`fiveways job status"},
	{"fiveways job retry", "`fiveways job status"},
	{"fiveways user add alice", "--password-stdin"},
	{"fiveways message show orders 1-1", "no such message"},
	{"fiveways message delete orders 1-1", "no such message"},
	{"fiveways message cancel --id 1-1", "no message with that id"},
	{"fiveways message reschedule --id 1-1", "no message with that id"},
}

// before creates the objects of the examples.
const before = `
fiveways exchange add dlx fanout
fiveways exchange add orders fanout
fiveways exchange add events topic
fiveways exchange add reminders x-delayed-message --argument x-delayed-type=fanout
fiveways queue add orders
fiveways queue add orders.dead
fiveways binding add reminders orders
fiveways binding add orders orders
fiveways vhost add staging
fiveways vhost add paris
fiveways user add alice --password-stdin < secret
fiveways permission set alice '.*' '.*' '.*'
`

// beforeOne creates what an example needs in addition, by its beginning: other examples may have
// removed it, or created what it creates.
var beforeOne = []struct{ begin, lines string }{
	{"fiveways message cancel", delayed("invoice-42")},
	{"fiveways message reschedule", delayed("invoice-43")},
	{"fiveways message publish --exchange events", `fiveways exchange add events topic; fiveways binding add events orders --routing-key 'order.#'`},
	{"fiveways binding delete", `fiveways binding add events orders --routing-key 'order.#'`},
	{"fiveways exchange delete", `fiveways binding delete events orders --routing-key 'order.#'`},
	{"fiveways key ", `fiveways key set /config/colour red`},
	{"fiveways job ", `fiveways job enqueue mail first --id welcome-1`},
	{"fiveways job enqueue mail", `fiveways job clear mail --yes`},
	{"fiveways job enqueue mail hello --id", `fiveways job enqueue mail first --id welcome-1`},
	{"fiveways semaphore ", "fiveways semaphore set crowd --active 5000; fiveways semaphore enqueue crowd 42 5"},
	{"fiveways semaphore delete", `for task in 42 1001 1002; do fiveways semaphore release crowd $task; done`},
	{"fiveways semaphore enqueue", `for task in 42 1001 1002; do fiveways semaphore release crowd $task; done`},
	{"fiveways queue add orders", `fiveways queue delete orders --yes`},
	{"fiveways shovel restart", `fiveways parameter set shovel to-paris - < shovel.json; until fiveways shovel list | grep -q to-paris; do :; done`},
	{"fiveways parameter delete", `fiveways parameter set shovel to-paris - < shovel.json`},
	{"fiveways policy delete", `fiveways policy set limits . '{"max-length": 5}'`},
	{"fiveways definitions import", `fiveways definitions export definitions.json`},
	{"fiveways migrate", `fiveways definitions export definitions.json`},
	{"fiveways tls", `rm -rf certs`},
	{"fiveways exchange show", `fiveways exchange add events topic`},
	{"fiveways queue purge", `fiveways queue add orders`},
	{"fiveways queue show", `fiveways queue add orders`},
	{"fiveways message ", `fiveways queue add orders`},
	{"fiveways operator-policy delete", `fiveways operator-policy set limits . '{"max-length": 5}'`},
	{"fiveways vhost limit", `fiveways vhost add staging`},
	{"fiveways user ", `fiveways user add alice --password-stdin < secret`},
	{"fiveways user limit", `fiveways user add alice --password-stdin < secret`},
	{"fiveways permission", `fiveways user add alice --password-stdin < secret`},
	{"fiveways permission clear", `fiveways vhost add staging; fiveways permission set alice . . . --vhost staging`},
	{"fiveways user add alice", `fiveways user delete alice --yes`},
	{"fiveways backup five", `rm -f *.tar`},
	{"fiveways restore five", `rm -rf restored; test -f fiveways-2030-01-31.tar || fiveways backup fiveways-2030-01-31.tar`},
}

// delayed publishes a message with a delay of a day.
func delayed(id string) string {
	return `fiveways message publish --exchange reminders --header x-delay=86400000 later --properties '{"message_id": "` + id + `"}'`
}

// TestExamples runs the examples of --help as a reader would type them.
func TestExamples(t *testing.T) {
	if testing.Short() {
		t.Skip("starts some hundred processes")
	}
	sh := newShell(t)
	if out, err := sh.run("set -e" + before); err != nil {
		t.Fatal(err, out)
	}
	played := 0
	for _, line := range examples(t) {
		i := slices.IndexFunc(notPlayed, func(n struct{ begin, why string }) bool { return strings.HasPrefix(line, n.begin) })
		if i >= 0 {
			continue
		}
		sh.prepare(line)
		out, err := sh.run(line)
		says, no := "", false
		for _, r := range refused {
			if strings.HasPrefix(line, r.begin) && !strings.Contains(line, "--password-stdin") {
				says, no = r.says, true
			}
		}
		if no != (err != nil) || !strings.Contains(out, says) || strings.Contains(out, "panic") {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
		played++
	}
	if played < 100 {
		t.Errorf("only %d examples were played", played)
	}
}

// examples returns all lines of the commands' examples, without explanations.
func examples(t *testing.T) (lines []string) {
	t.Helper()
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		for line := range strings.Lines(cmd.Example) {
			line, _, _ = strings.Cut(strings.TrimSpace(line), "   ")
			lines = append(lines, strings.TrimSpace(line))
		}
		for _, below := range cmd.Commands() {
			if below.Name() != "completion" && below.Name() != "help" {
				walk(below)
			}
		}
	}
	walk(commands(io.Discard, io.Discard))
	slices.Sort(lines)
	return slices.Compact(lines)
}

// shell runs lines with a broker.
type shell struct {
	t   *testing.T
	dir string
	env []string
}

func newShell(t *testing.T) *shell {
	t.Helper()
	dir, data := t.TempDir(), filepath.Join(t.TempDir(), "data")
	p := startProcess(t, data)
	program, err := filepath.Abs(os.Args[0])
	must(t, err)
	for name, text := range map[string]string{
		"bin/fiveways": "#!/bin/sh\n" + asProgram + "=1 exec '" + program + "' \"$@\"\n",
		"work":         "#!/bin/sh\n",
		"secret":       "secret\n",
		"order.json":   `{"n": 1}`,
		"report.json":  `{"month": 1}`,
		"tasks.txt":    "1001 1\n1002 2\n",
		"done.txt":     "42\n",
		"shovel.json":  `{"src-uri": "amqp://", "src-queue": "x", "dest-uri": "amqp://", "dest-queue": "x"}`,
	} {
		name = filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(name), 0o700))
		if err := os.WriteFile(name, []byte(text), 0o700); err != nil { // #nosec G306 -- some are programs
			t.Fatal(err)
		}
	}
	env := append(os.Environ(), "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"),
		"FIVEWAYS_DATA="+data, "FIVEWAYS_REDIS="+p.redis, "FIVEWAYS_AMQP="+strings.TrimPrefix(p.url, "amqp://"))
	return &shell{t: t, dir: dir, env: env}
}

func (s *shell) run(script string) (output string, err error) {
	cmd := exec.CommandContext(s.t.Context(), "/bin/sh", "-c", script)
	cmd.Dir, cmd.Env = s.dir, s.env
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// prepare creates what a line needs.
func (s *shell) prepare(line string) {
	s.t.Helper()
	for _, b := range beforeOne {
		if strings.HasPrefix(line, b.begin) {
			s.run(b.lines) //nolint:errcheck // the line itself fails if something is missing
		}
	}
}
