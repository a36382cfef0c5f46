package cli

import (
	"encoding/json"
	"testing"

	"fiveways.dev/fiveways/internal/bench/sql"
	"fiveways.dev/fiveways/internal/cli/exitcode"
)

func TestBenchSQL(t *testing.T) {
	p := startProcess(t, t.TempDir())
	stdout, stderr, code := command(t, "bench", "sql", p.dsn, "--clients", "2", "--backlog", "500", "--duration", "300ms", "--json")
	var r sql.Result
	if err := json.Unmarshal([]byte(stdout), &r); code != exitcode.OK || err != nil {
		t.Fatalf("exit code %d, %v, %s", code, err, stderr)
	}
	for _, l := range r.Loads {
		// Loads that consume get at most what was posted, and stop when they have all of it.
		if l.Operations.Count == 0 || l.Messages.Count > 500 && (l.Name == "consume" || l.Name == "consumen") {
			t.Errorf("%+v", l)
		}
	}
	if len(r.Loads) != len(sql.LoadNames()) {
		t.Errorf("%d loads", len(r.Loads))
	}
	if _, _, code := command(t, "bench", "sql", p.dsn, "--load", "drink"); code != exitcode.WrongUsage {
		t.Errorf("a load that is not there: exit code %d", code)
	}
}
