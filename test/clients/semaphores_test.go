package clients

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"fiveways.dev/fiveways/test/brokertest"
)

// TestSemaphoreExamples runs the programs of examples/semaphores, each twice on one broker, and
// checks that they print what their README says and leave nothing behind. A program whose tools are
// missing is skipped.
func TestSemaphoreExamples(t *testing.T) {
	const folder = "../../examples/semaphores/"
	printed := blocks(t, folder+"README.md", "")[0]
	check := func(name string, setUp func(t *testing.T), words ...string) {
		t.Run(name, func(t *testing.T) {
			setUp(t)
			b := brokertest.Run(t, "--redis", "127.0.0.1:0")
			for range 2 {
				prints(t, b, printed, words...)
			}
		})
	}
	check("go", func(*testing.T) {}, "go", "run", folder+"go")
	check("python", func(t *testing.T) { setUp(t, "python", "python3") }, ".venv/bin/python", folder+"python/crowd.py")
}

// TestSemaphorePage runs the program of docs/features/semaphores.md, and checks that it prints the
// output on the page.
func TestSemaphorePage(t *testing.T) {
	const page = "../../docs/features/semaphores.md"
	setUp(t, "python", "python3")
	b := brokertest.Run(t, "--redis", "127.0.0.1:0")
	program := filepath.Join(t.TempDir(), "page.py")
	text := strings.ReplaceAll(blocks(t, page, "python")[0], "amqp://guest:guest@127.0.0.1:5672/%2F", b.URL())
	must(t, os.WriteFile(program, []byte(text), 0o644))
	prints(t, b, blocks(t, page, "")[0], ".venv/bin/python", program)
}

// blocks returns the code blocks of a page in a language; "" means without a language.
func blocks(t *testing.T, page, language string) (found []string) {
	t.Helper()
	text, err := os.ReadFile(page)
	must(t, err)
	parts := strings.Split(string(text), "```")
	for i := 1; i < len(parts); i += 2 {
		if head, block, _ := strings.Cut(parts[i], "\n"); head == language {
			found = append(found, block)
		}
	}
	if len(found) == 0 {
		t.Fatalf("%s has no block of %q", page, language)
	}
	return found
}

// prints runs a program against a broker and checks its output.
func prints(t *testing.T, b *brokertest.Broker, want string, words ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), scriptPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env = append(os.Environ(), "REDIS_URL=redis://"+b.RedisAddr(), "AMQP_URL="+b.URL(), "BROKER_URL=http://guest:guest@"+b.HTTPAddr(), "PYTHONDONTWRITEBYTECODE=1")
	var log strings.Builder
	cmd.Stderr = &log
	if out, err := cmd.Output(); err != nil || string(out) != want {
		t.Errorf("%v; it printed\n%s\n%s", err, out, log.String())
	}
}
