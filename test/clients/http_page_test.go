package clients

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"fiveways.dev/fiveways/test/brokertest"
)

var rewriteHTTPPage = flag.Bool("rewrite-http-page", false, "write what curl prints into the session of docs/protocols/http.md")

// changing is what is printed differently each time, and how it appears on the pages.
var changing = []struct {
	is      *regexp.Regexp
	written string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z`), "2026-11-22T10:00:00.000000Z"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`), "2026-11-22T10:00:00.000Z"},
	{regexp.MustCompile(`"token":"[^"]+"`), `"token":"5wk…bzE"`},
	{regexp.MustCompile(`"(id|next)":"[0-9a-z]+-[0-9a-z]+"`), `"$1":"2x-1s"`},
}

// TestHTTPPage runs the commands of the page with curl on a fresh broker, and checks that they
// print what the page shows.
func TestHTTPPage(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		skipOrFail(t, err)
	}
	const page = "../../docs/protocols/http.md"
	text, err := os.ReadFile(page)
	must(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), scriptPatience)
	defer cancel()
	addr := brokertest.Run(t, "--http", "127.0.0.1:0").HTTPAddr()
	var out strings.Builder
	steps, inside := 0, false
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "```") {
			inside = strings.HasPrefix(line, "```console")
		}
		command, typed := strings.CutPrefix(line, "$ ")
		if inside && !typed && !strings.HasPrefix(line, "```") {
			continue // output of the previous command
		}
		out.WriteString(line)
		if inside && typed {
			steps++
			out.WriteString(printedBy(ctx, strings.ReplaceAll(command, "127.0.0.1:15672", addr)))
		}
	}
	if steps < 20 {
		t.Fatalf("found only %d steps", steps)
	}
	if got := out.String(); got != string(text) {
		t.Errorf("the page would be\n%s", got)
		if *rewriteHTTPPage {
			must(t, os.WriteFile(page, []byte(got), 0o644))
		}
	}
}

// printedBy returns what a command prints, in the form of the pages.
func printedBy(ctx context.Context, command string) string {
	printed, _ := exec.CommandContext(ctx, "sh", "-c", command).Output() // a stream ends with an error
	text := string(printed)
	for _, c := range changing {
		text = c.is.ReplaceAllString(text, c.written)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}
