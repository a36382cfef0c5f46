package clients

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fiveways.dev/fiveways/test/brokertest"
)

// scriptPatience is the timeout of a script. The slowest takes about ten seconds.
const scriptPatience = 3 * time.Minute

// endPatience is how long a script that timed out may take to end what it started.
const endPatience = 10 * time.Second

func TestMain(m *testing.M) { brokertest.Main(m) }

func TestPython(t *testing.T) {
	setUp(t, "python", "python3")
	url := brokertest.URL(t)
	runScripts(t, url, ".venv/bin/python", "python/tutorial_*.py", 6)
	runScripts(t, url, ".venv/bin/python", "python/seed_*.py", 5)
	runScripts(t, url, ".venv/bin/python", "python/feature_*.py", 0)
	t.Run("streams.md", func(t *testing.T) { runStreamsPage(t) })
}

// runStreamsPage runs the program of docs/features/streams.md, which states its own output.
func runStreamsPage(t *testing.T) {
	b := brokertest.Run(t)
	program := filepath.Join(t.TempDir(), "page.py")
	text := strings.ReplaceAll(blocks(t, "../../docs/features/streams.md", "python")[0], "amqp://guest:guest@localhost:5672/%2F", b.URL())
	must(t, os.WriteFile(program, []byte(text), 0o644))
	prints(t, b, "1 b'event 1'\n2 b'event 2'\n", ".venv/bin/python", program)
}

// TestJava compiles the programs of java/ with setup.sh. Each program proves several claims and
// names them.
func TestJava(t *testing.T) {
	setUp(t, "java", "java", "javac", "mvn")
	env := []string{classPath(t), "FIVEWAYS=" + brokertest.Binary(t)}
	url := brokertest.URL(t)
	for _, program := range []string{"Tutorials", "Features", "Recovery"} {
		t.Run(program, func(t *testing.T) { runScript(t, url, env, "java", program) })
	}
}

// classPath returns the environment with which java finds the programs of java/ and their
// libraries.
func classPath(t *testing.T) string {
	t.Helper()
	libraries, err := os.ReadFile("java/.build/classpath")
	must(t, err)
	return "CLASSPATH=java/.build/classes:" + string(libraries)
}

// TestCelery runs real workers. Each script has its own broker, and they run concurrently, since
// they mostly wait.
func TestCelery(t *testing.T) {
	setUp(t, "celery", "python3")
	env := []string{"FIVEWAYS=" + brokertest.Binary(t)}
	for _, script := range scripts(t, "celery/celery_*.py", 4) {
		t.Run(filepath.Base(script), func(t *testing.T) {
			if os.Getenv("AMQP_URL") == "" {
				t.Parallel()
			}
			runScript(t, brokertest.URL(t), env, ".venv-celery/bin/python", script)
		})
	}
}

func TestNode(t *testing.T) {
	setUp(t, "node", "node", "npm")
	runScripts(t, brokertest.URL(t), "node", "node/tutorial_*.js", 6)
}

// setUp installs the client library with setup.sh. If the tools for it are missing, the test is
// skipped, or fails in CI.
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

// scripts returns the files that match the pattern. want is how many there must be, or 0 for any
// number.
func scripts(t *testing.T, pattern string, want int) []string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil || want != 0 && len(found) != want {
		t.Fatalf("%s: %d scripts, want %d (%v)", pattern, len(found), want, err)
	}
	return found
}

// runScripts runs each script that matches the pattern as a subtest.
func runScripts(t *testing.T, url, interpreter, pattern string, want int) {
	for _, script := range scripts(t, pattern, want) {
		t.Run(filepath.Base(script), func(t *testing.T) { runScript(t, url, nil, interpreter, script) })
	}
}

// runScript runs one script with additions to its environment. A script checks its own claims and
// exits with a code other than 0 if one does not hold.
func runScript(t *testing.T, url string, env []string, interpreter, script string) {
	ctx, cancel := context.WithTimeout(t.Context(), scriptPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, interpreter, script)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) } // lets it end what it started
	cmd.WaitDelay = endPatience
	cmd.Env = append(os.Environ(), "AMQP_URL="+url, "PYTHONDONTWRITEBYTECODE=1")
	cmd.Env = append(cmd.Env, env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// must fails the test at once if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
