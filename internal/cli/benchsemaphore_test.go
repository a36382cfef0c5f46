package cli

import (
	"encoding/json"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/bench/semaphore"
	"fiveways.dev/fiveways/internal/cli/exitcode"
)

func TestBenchSemaphore(t *testing.T) {
	p := startProcess(t, t.TempDir())
	stdout, stderr, code := command(t, "bench", "semaphore", p.dsn, "--active", "10", "--waiting", "100", "--rate", "100", "--duration", "300ms", "--json")
	var r semaphore.Result
	if err := json.Unmarshal([]byte(stdout), &r); code != exitcode.OK || err != nil {
		t.Fatalf("exit code %d, %v, %s", code, err, stderr)
	}
	if len(r.Loads) != len(semaphore.LoadNames()) || !strings.HasPrefix(r.Server, "Fiveways over SQL") {
		t.Errorf("%+v", r)
	}
	for _, l := range r.Loads {
		if l.Count == 0 || l.P50 <= 0 {
			t.Errorf("%+v", l)
		}
	}
	if _, _, code := command(t, "bench", "semaphore", "--load", "drink"); code != exitcode.WrongUsage {
		t.Errorf("a load that is not there: exit code %d", code)
	}
}

func TestBenchSemaphoreOverRedis(t *testing.T) {
	url := jobBroker(t)
	stdout, stderr, code := command(t, "bench", "semaphore", url, "--active", "10", "--waiting", "100", "--rate", "100", "--duration", "300ms")
	if code != exitcode.OK || !strings.HasPrefix(stdout, "Fiveways ") || !strings.Contains(stdout, "handover") || !strings.Contains(stdout, "changes") {
		t.Errorf("exit code %d, %s, %s", code, stdout, stderr)
	}
}
