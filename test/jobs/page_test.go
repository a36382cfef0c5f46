package jobs

import (
	"flag"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var rewritePage = flag.Bool("rewrite-page", false, "write what redis-cli prints into the sessions of docs/protocols/redis.md")

const (
	page   = "../../docs/protocols/redis.md"
	prompt = "127.0.0.1:6380> "
)

// TestPage runs the sessions of the page with redis-cli on a fresh broker whose clock stands still,
// and checks that they print what the page shows.
func TestPage(t *testing.T) {
	program, err := exec.LookPath("redis-cli")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	typed := sessionSteps(string(text))
	if len(typed) < 10 {
		t.Fatalf("found only %d steps", len(typed))
	}
	printed := playSessions(t, program, newNode(t, 3).port, typed)
	changed, end := "", 0 // the corrected page up to end
	for i, s := range typed {
		if printed[i] != s.output {
			t.Errorf("%s\nprints\n%s\nand not\n%s", s.input, printed[i], s.output)
		}
		changed += string(text[end:s.at]) + printed[i]
		end = s.at + len(s.output)
	}
	if *rewritePage {
		if err := os.WriteFile(page, []byte(changed+string(text[end:])), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// typedLine is a line to type, with the output of redis-cli at this place of the page.
type typedLine struct {
	input, output string
	at            int
}

// sessionSteps returns the typed lines of all ```console blocks of a page.
func sessionSteps(text string) (all []typedLine) {
	inside, read := false, 0
	for line := range strings.Lines(text) {
		read += len(line)
		command, typed := strings.CutPrefix(line, prompt)
		switch {
		case strings.HasPrefix(line, "```"):
			inside = strings.HasPrefix(line, "```console")
		case inside && typed:
			all = append(all, typedLine{input: command, at: read})
		case inside && len(all) > 0:
			all[len(all)-1].output += line
		}
	}
	return all
}

var (
	takenToken = regexp.MustCompile(`"token" => "([^"]+)"`)
	withToken  = regexp.MustCompile(`^JOB\.(DONE|RETRY|FAIL|EXTEND) `)
)

// playSessions types the lines and returns the output after each. It replaces the broker's tokens,
// which differ each time, by the page's. A line with a token needs the earlier output, so it begins
// another redis-cli.
func playSessions(t *testing.T, program, port string, typed []typedLine) (printed []string) {
	t.Helper()
	var tokens []string // the page's tokens, each followed by the broker's
	for len(typed) > 0 {
		n := 1
		for n < len(typed) && !withToken.MatchString(typed[n].input) {
			n++
		}
		lines := slices.Clone(typed[:n])
		if withToken.MatchString(lines[0].input) {
			lines[0].input = strings.NewReplacer(tokens...).Replace(lines[0].input)
		}
		for i, text := range playCLI(t, program, port, lines) {
			ours, pages := takenToken.FindAllStringSubmatch(text, -1), takenToken.FindAllStringSubmatch(lines[i].output, -1)
			for k := range min(len(ours), len(pages)) {
				tokens = append([]string{pages[k][1], ours[k][1]}, tokens...) // the newest comes first
				text = strings.Replace(text, ours[k][0], pages[k][0], 1)
			}
			printed = append(printed, text)
		}
		typed = typed[n:]
	}
	return printed
}

// playCLI types the lines into one redis-cli and returns its output after each.
func playCLI(t *testing.T, program, port string, typed []typedLine) []string {
	t.Helper()
	const mark = "--- end of step ---"
	var all strings.Builder
	for _, s := range typed {
		all.WriteString(s.input + "ECHO \"" + mark + "\"\n")
	}
	cli := exec.CommandContext(t.Context(), program, "-3", "--no-raw", "-p", port)
	cli.Stdin = strings.NewReader(all.String())
	out, err := cli.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	parts := strings.Split(string(out), "\""+mark+"\"\n")
	if len(parts) != len(typed)+1 {
		t.Fatalf("%d answers to %d lines:\n%s", len(parts)-1, len(typed), out)
	}
	return parts[:len(typed)]
}
