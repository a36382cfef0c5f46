package clients

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"fiveways.dev/fiveways/test/brokertest"
)

// mailed is the output of every program in examples/jobs.
const mailed = `mail 2 is queued already
mail 1: sent to ann, attempt 1
mail 2: bob does not answer
mail 3: sent to eve, attempt 1
mail 2: sent to bob, attempt 2
`

// TestJobExamples runs the programs of examples/jobs and checks their output. A program whose tools
// are missing is skipped.
func TestJobExamples(t *testing.T) {
	const folder = "../../examples/jobs/"
	check := func(name string, setUp func(t *testing.T), words ...string) {
		t.Run(name, func(t *testing.T) {
			setUp(t)
			b := brokertest.Run(t, "--redis", "127.0.0.1:0")
			ctx, cancel := context.WithTimeout(t.Context(), scriptPatience)
			defer cancel()
			cmd := exec.CommandContext(ctx, words[0], words[1:]...)
			cmd.Env = append(os.Environ(), "REDIS_URL=redis://"+b.RedisAddr(), "NODE_PATH=node/node_modules", "PYTHONDONTWRITEBYTECODE=1")
			var log strings.Builder
			cmd.Stderr = &log
			if out, err := cmd.Output(); err != nil || string(out) != mailed {
				t.Errorf("%v; it printed\n%s\n%s", err, out, log.String())
			}
		})
	}
	check("go", func(*testing.T) {}, "go", "run", folder+"go")
	check("python", func(t *testing.T) { setUp(t, "python", "python3") }, ".venv/bin/python", folder+"python/worker.py")
	check("node", func(t *testing.T) { setUp(t, "node", "node", "npm") }, "node", folder+"node/worker.js")
}
