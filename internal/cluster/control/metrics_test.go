package control

import (
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"fiveways.dev/fiveways/internal/cluster"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/replica"
	"fiveways.dev/fiveways/internal/replica/level"
	"fiveways.dev/fiveways/internal/replica/transport"
)

// told returns the metrics of node 1 of four, which leads. Node 3 is down, and node 4 has no vote.
func told(t *testing.T) string {
	t.Helper()
	var out strings.Builder
	writeMetrics(&out, &cluster.Status{
		Status: replica.Status{
			Node: 1, Leader: 1, Term: 7, Last: 100, Committed: 99, Applied: 98, Level: 1, Uncommitted: 2 * time.Second, Voters: []uint64{1, 2, 3}, Learners: []uint64{4},
			Match:  map[uint64]uint64{1: 100, 2: 97, 3: 0, 4: 40},
			Behind: map[uint64]time.Duration{2: 4 * time.Second, 3: replica.MaxBehind, 4: replica.MaxBehind},
			Counts: replica.Counts{Leaderships: 2, Commits: 50, CommitTime: 100 * time.Millisecond, SnapshotsSent: 3, SnapshotsFailed: 1},
		},
		Peers: map[uint64]transport.PeerStatus{
			2: {Connected: true, RTT: time.Millisecond, Skew: -20 * time.Millisecond, Levels: level.Range{Oldest: 1, Newest: 2}}, 3: {Dropped: 5}, 4: {Connected: true, RTT: 2 * time.Millisecond},
		},
	})
	return out.String()
}

// TestFigures checks that all known figures are reported in valid Prometheus format.
func TestFigures(t *testing.T) {
	text := told(t)
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if !strings.HasSuffix(p.Metric, "_index") { // promlint wants _total, as it only grows
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, strings.TrimSpace(strings.TrimPrefix(line, "fiveways_cluster_")))
		}
	}
	const want = `leader 1, has_leader 1, term 7, voters 3, voters_connected 2, voters_keeping_up 1, last_index 100, committed_index 99, applied_index 98, oldest_uncommitted_seconds 2, leaderships_total 2, commits_total 50, commit_seconds_total 0.1, snapshots_sent_total 3, snapshots_failed_total 1, level 1, newest_level 1, peer_newest_level{node="2"} 2, ` +
		`peer_connected{node="2"} 1, peer_connected{node="3"} 0, peer_connected{node="4"} 1, peer_rtt_seconds{node="2"} 0.001, peer_rtt_seconds{node="4"} 0.002, ` +
		`peer_clock_skew_seconds{node="2"} -0.02, peer_clock_skew_seconds{node="4"} 0, ` +
		`peer_messages_dropped_total{node="2"} 0, peer_messages_dropped_total{node="3"} 5, peer_messages_dropped_total{node="4"} 0, ` +
		`peer_lag_entries{node="2"} 3, peer_lag_entries{node="4"} 60`
	if got := strings.Join(lines, ", "); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// TestBoardAndAlerts checks that the dashboard and the alerts use only metrics that exist.
func TestBoardAndAlerts(t *testing.T) {
	text := told(t)
	for file, atLeast := range map[string]int{"grafana/fiveways.json": 4, "prometheus/alerts.yml": 6} {
		b, err := os.ReadFile("../../../deploy/" + file)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, name := range regexp.MustCompile(`\bfiveways_cluster_\w+`).FindAllString(string(b), -1) {
			seen[name] = true
			if !strings.Contains(text, "# TYPE "+name+" ") {
				t.Errorf("%s speaks of %s, which is not told", file, name)
			}
		}
		if len(seen) < atLeast {
			t.Errorf("%s speaks of %d metrics", file, len(seen))
		}
	}
}

// TestReady checks the answers of the health check for load balancers.
func TestReady(t *testing.T) {
	for _, c := range []struct {
		status replica.Status
		code   int
		body   string
	}{
		{replica.Status{Node: 1, Leader: 2}, http.StatusOK, "ok\n"},
		{replica.Status{Node: 1}, http.StatusServiceUnavailable, "no node leads\n"},
		{replica.Status{Node: 1, Removed: true}, http.StatusServiceUnavailable, protocol.Removed + "\n"},
	} {
		w := httptest.NewRecorder()
		ready(w, &cluster.Status{Status: c.status})
		if w.Code != c.code || w.Body.String() != c.body {
			t.Errorf("%+v: %d %s", c.status, w.Code, w.Body)
		}
	}
}
