package clients

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"fiveways/test/brokertest"
)

var rewriteHTTPPage = flag.Bool("rewrite-http-page", false, "write what curl prints into the session of docs/protocols/http.md")

// timeOnPage is a moment, which is another one each time.
var timeOnPage = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z`)

// TestHTTPPage plays the session of the page to curl and a fresh broker: what stands there is what is printed.
func TestHTTPPage(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		skipOrFail(t, err)
	}
	const page = "../../docs/protocols/http.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
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
			continue // what was printed
		}
		out.WriteString(line)
		if inside && typed {
			steps++
			printed, _ := exec.CommandContext(ctx, "sh", "-c", strings.ReplaceAll(command, "127.0.0.1:15672", addr)).Output() // a stream ends with an error
			out.WriteString(timeOnPage.ReplaceAllString(string(printed), "2026-11-22T10:00:00.000000Z"))
		}
	}
	if steps < 8 {
		t.Fatalf("found only %d steps", steps)
	}
	if got := out.String(); got != string(text) {
		t.Errorf("the page would be\n%s", got)
		if *rewriteHTTPPage {
			if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
