package cli

import (
	"encoding/json"
	"strings"
	"testing"

	benchjobs "fiveways.dev/fiveways/internal/bench/jobs"
	"fiveways.dev/fiveways/internal/cli/exitcode"
	"fiveways.dev/fiveways/test/redisd"
)

func TestBenchJobs(t *testing.T) {
	broker := jobBroker(t)
	peer := "redis://" + redisd.Start(t, redisd.Options{Sync: "always"})
	stdout, stderr, code := command(t, "bench", "jobs", broker, "--against", peer, "--connections", "2", "--depth", "1,5", "--backlog", "500",
		"--repetitions", "1", "--duration", "100ms", "--json")
	var r benchjobs.Result
	if err := json.Unmarshal([]byte(stdout), &r); code != exitcode.OK || err != nil {
		t.Fatalf("exit code %d, %v, %s", code, err, stderr)
	}
	if len(r.Loads) != 2*len(benchjobs.LoadNames()) {
		t.Errorf("%d loads", len(r.Loads))
	}
	for _, l := range r.Loads {
		if len(l.Servers) != 2 || l.Servers[0].PerSecond <= 0 || l.Servers[1].PerSecond <= 0 || l.Ratio <= 0 {
			t.Errorf("%+v", l)
		}
	}
	if len(r.Servers) != 2 || !strings.HasPrefix(r.Servers[0], "Fiveways ") || !strings.HasSuffix(r.Servers[0], "appendfsync always") || !strings.HasSuffix(r.Servers[1], "appendfsync always") {
		t.Errorf("servers %q", r.Servers)
	}
	if out, _ := job(t, broker, exitcode.OK, "list", "--json"); out != "" {
		t.Errorf("left behind: %s", out)
	}
	if _, _, code := command(t, "bench", "jobs", "--load", "drink"); code != exitcode.WrongUsage {
		t.Errorf("a load that is not there: exit code %d", code)
	}
}
