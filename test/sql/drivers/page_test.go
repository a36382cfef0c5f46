package drivers

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"fiveways.dev/fiveways/test/brokertest"
)

var rewrite = flag.Bool("rewrite", false, "write what psql prints into the sessions of docs/protocols/sql.md")

const page = "../../../docs/protocols/sql.md"

// prompt matches psql's prompt for the superuser guest in the database fiveways: for a statement,
// for the rest of one (-), in a transaction (*), and in a failed one (!).
var prompt = regexp.MustCompile(`^fiveways([-=])[*!]?# ?(.*)$`)

// TestPage runs the sessions of the page about SQL with psql on a fresh broker, and checks that
// they print what the page shows.
func TestPage(t *testing.T) {
	need(t, "psql")
	dir := t.TempDir()
	b, err := brokertest.Start(t.Context(), dir, "--sql", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(b.Kill)
	addUser(t, dir)
	text, err := os.ReadFile(page)
	must(t, err)
	steps := sessionSteps(string(text))
	if len(steps) < 10 {
		t.Fatalf("found only %d steps", len(steps))
	}
	printed := play(t, "postgres://guest@"+b.SQLAddr()+"/fiveways", steps)
	changed, end := "", 0 // the corrected page up to end
	for i, s := range steps {
		if printed[i] != s.output {
			t.Errorf("%s\nprints\n%s\nand not\n%s", s.input, printed[i], s.output)
		}
		changed += string(text[end:s.at]) + printed[i]
		end = s.at + len(s.output)
	}
	if *rewrite {
		must(t, os.WriteFile(page, []byte(changed+string(text[end:])), 0o644))
	}
}

// step is a typed line, with psql's output at this place of the page.
type step struct {
	input, output string
	at            int
}

// sessionSteps returns the steps of all ```console blocks of a page.
func sessionSteps(text string) (steps []step) {
	inside, read := false, 0
	for line := range strings.Lines(text) {
		read += len(line)
		switch m := prompt.FindStringSubmatch(strings.TrimSuffix(line, "\n")); {
		case strings.HasPrefix(line, "```"):
			inside = strings.HasPrefix(line, "```console")
		case !inside:
		case m != nil:
			if m[1] == "=" {
				steps = append(steps, step{})
			}
			last := &steps[len(steps)-1]
			last.input += m[2] + "\n"
			last.at = read
		case len(steps) > 0:
			steps[len(steps)-1].output += line
		}
	}
	return steps
}

// play types the steps into one psql and returns its output after each.
func play(t *testing.T, url string, steps []step) []string {
	t.Helper()
	const mark = "--- end of step ---"
	var typed strings.Builder
	for _, s := range steps {
		fmt.Fprintf(&typed, "%s\\echo '%s'\n", s.input, mark)
	}
	cmd := exec.CommandContext(t.Context(), "psql", "-X", url)
	cmd.Env = append(os.Environ(), "PGCLIENTENCODING=UTF8", "LC_ALL=C.UTF-8")
	cmd.Stdin = strings.NewReader(typed.String())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	parts := strings.Split(string(out), mark+"\n")
	if len(parts) != len(steps)+1 {
		t.Fatalf("%d answers to %d steps:\n%s", len(parts)-1, len(steps), out)
	}
	return parts[:len(steps)]
}
