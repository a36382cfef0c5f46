package clients

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"fiveways.dev/fiveways/test/brokertest"
)

const (
	orphanPatience = 15 * time.Second
	orphanPoll     = 20 * time.Millisecond
)

// TestCeleryLeavesNothingBehind checks that scripts and their workers, which are separate process
// groups, end by themselves. A test that runs out of time exits without telling its scripts.
func TestCeleryLeavesNothingBehind(t *testing.T) {
	setUp(t, "celery", "python3")
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip(err)
	}
	broker := brokertest.Run(t)
	mark := "FIVEWAYS_TEST_MARK=" + t.TempDir()
	sh := exec.Command("sh", "-c", ".venv-celery/bin/python celery/celery_late.py & wait")
	sh.Env = append(os.Environ(), "AMQP_URL="+broker.URL(), "PYTHONDONTWRITEBYTECODE=1", mark)
	must(t, sh.Start())
	worker := func() bool {
		return slices.ContainsFunc(marked(mark), func(cmdline []byte) bool { return bytes.Contains(cmdline, []byte("\x00worker\x00")) })
	}
	await(t, "a worker", worker)
	broker.Kill()     // now the script has long to wait
	sh.Process.Kill() //nolint:errcheck // it may have exited already
	sh.Wait()         //nolint:errcheck // it was killed: the status says so
	await(t, "the end of all", func() bool { return len(marked(mark)) == 0 })
}

// marked returns the command lines of the processes with this text in their environment.
func marked(mark string) (cmdlines [][]byte) {
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range processes {
		environ, _ := os.ReadFile(dir + "/environ") // some processes cannot be read
		if slices.ContainsFunc(bytes.Split(environ, []byte{0}), func(v []byte) bool { return string(v) == mark }) {
			cmdline, _ := os.ReadFile(dir + "/cmdline")
			cmdlines = append(cmdlines, cmdline)
		}
	}
	return cmdlines
}

func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(orphanPoll)
	defer tick.Stop()
	for deadline := time.Now().Add(orphanPatience); !ok(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("waiting for %s", what)
		}
	}
}
