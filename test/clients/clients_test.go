package clients

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"fiveways/test/brokertest"
)

// scriptPatience bounds a script that hangs; the slowest takes about ten seconds.
const scriptPatience = 3 * time.Minute

func TestMain(m *testing.M) { brokertest.Main(m) }

func TestPython(t *testing.T) {
	setUp(t, "python", "python3")
	url := brokertest.URL(t)
	runScripts(t, url, ".venv/bin/python", "python/tutorial_*.py", 6)
	runScripts(t, url, ".venv/bin/python", "python/seed_*.py", 5)
	runScripts(t, url, ".venv/bin/python", "python/feature_*.py", 0)
}

func TestNode(t *testing.T) {
	setUp(t, "node", "node", "npm")
	runScripts(t, brokertest.URL(t), "node", "node/tutorial_*.js", 6)
}

// setUp installs the client library by setup.sh. Without the tools for it the test is skipped, but fails in CI.
func setUp(t *testing.T, client string, tools ...string) {
	t.Helper()
	giveUp := t.Skipf
	if os.Getenv("CI") == "true" {
		giveUp = t.Fatalf
	}
	for _, tool := range tools {
		if _, err := exec.LookPath(tool); err != nil {
			giveUp("%s clients not run: %v", client, err)
		}
	}
	if out, err := exec.Command("./setup.sh", client).CombinedOutput(); err != nil {
		giveUp("%s clients not run: setup.sh: %v\n%s", client, err, out)
	}
}

// runScripts runs each script that matches the pattern as a subtest. A script proves its claims itself and exits
// with a code other than 0 when one does not hold. want is how many scripts there are, 0 for any number.
func runScripts(t *testing.T, url, interpreter, pattern string, want int) {
	scripts, err := filepath.Glob(pattern)
	if err != nil || want != 0 && len(scripts) != want {
		t.Fatalf("%s: %d scripts, want %d (%v)", pattern, len(scripts), want, err)
	}
	for _, script := range scripts {
		t.Run(filepath.Base(script), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), scriptPatience)
			defer cancel()
			cmd := exec.CommandContext(ctx, interpreter, script)
			cmd.Env = append(os.Environ(), "AMQP_URL="+url, "PYTHONDONTWRITEBYTECODE=1")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
