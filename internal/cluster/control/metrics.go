package control

import (
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"slices"
	"time"

	"fiveways.dev/fiveways/internal/cluster"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/replica"
	"fiveways.dev/fiveways/internal/replica/level"
)

// figure is a metric of this node, or a metric of each other node as this node knows it.
type figure struct {
	name, kind, help string
	leads            bool // known to the leader only
	node             func(*cluster.Status) float64
	peer             func(*cluster.Status, uint64) (float64, bool) // ok is false if unknown
}

var figures = []figure{
	{name: "leader", kind: "gauge", help: "1 on the node that leads.", node: func(s *cluster.Status) float64 { return number(s.Leader == s.Node) }},
	{name: "has_leader", kind: "gauge", help: "1 while the node knows which node leads, and hears from it.", node: func(s *cluster.Status) float64 { return number(s.Leader != 0) }},
	{name: "term", kind: "gauge", help: "Number of elections that the cluster has had, won or not.", node: func(s *cluster.Status) float64 { return float64(s.Term) }},
	{name: "voters", kind: "gauge", help: "Nodes that have a vote.", node: func(s *cluster.Status) float64 { return float64(len(s.Voters)) }},
	{name: "voters_connected", kind: "gauge", help: "Those of them that the node is connected to, with itself when it has a vote.", node: func(s *cluster.Status) float64 {
		return float64(voters(s, math.MaxInt64))
	}},
	{name: "voters_keeping_up", kind: "gauge", help: "Those of these that lack no entry that is older than 3 s; on the node that leads only.", leads: true, node: func(s *cluster.Status) float64 {
		return float64(voters(s, replica.KeepsUpWithin))
	}},
	{name: "last_index", kind: "counter", help: "Index of the last entry in the log of the node.", node: func(s *cluster.Status) float64 { return float64(s.Last) }},
	{name: "committed_index", kind: "counter", help: "Index of the last entry that the node knows to be committed.", node: func(s *cluster.Status) float64 { return float64(s.Committed) }},
	{name: "applied_index", kind: "counter", help: "Index of the last entry that the state of the node has.", node: func(s *cluster.Status) float64 { return float64(s.Applied) }},
	{name: "oldest_uncommitted_seconds", kind: "gauge", help: "Time since the oldest entry was proposed that is not committed, or 0; on the node that leads only.", leads: true, node: func(s *cluster.Status) float64 { return s.Uncommitted.Seconds() }},
	{name: "leaderships_total", kind: "counter", help: "Leaderships of the node that began.", node: func(s *cluster.Status) float64 { return float64(s.Leaderships) }},
	{name: "commits_total", kind: "counter", help: "Entries that the node proposed as leader and that were committed.", node: func(s *cluster.Status) float64 { return float64(s.Commits) }},
	{name: "commit_seconds_total", kind: "counter", help: "Time that these took in all, from the proposal to the commit.", node: func(s *cluster.Status) float64 { return s.CommitTime.Seconds() }},
	{name: "snapshots_sent_total", kind: "counter", help: "Snapshots that the node sent and others installed.", node: func(s *cluster.Status) float64 { return float64(s.SnapshotsSent) }},
	{name: "snapshots_failed_total", kind: "counter", help: "Snapshots that the node sent and that did not arrive or were not taken.", node: func(s *cluster.Status) float64 { return float64(s.SnapshotsFailed) }},
	{name: "level", kind: "gauge", help: "Level of the log: what kinds of entries it may have.", node: func(s *cluster.Status) float64 { return float64(s.Level) }},
	{name: "newest_level", kind: "gauge", help: "Newest level of the log that the node supports.", node: func(*cluster.Status) float64 { return float64(level.Supported.Newest) }},
	{name: "peer_newest_level", kind: "gauge", help: "Newest level of the log that the other node supports.", peer: func(s *cluster.Status, id uint64) (float64, bool) {
		newest := s.Peers[id].Levels.Newest // 0: unknown
		return float64(newest), newest > 0
	}},
	{name: "peer_connected", kind: "gauge", help: "1 while the node has both connections to the other one.", peer: func(s *cluster.Status, id uint64) (float64, bool) { return number(s.Peers[id].Connected), true }},
	{name: "peer_rtt_seconds", kind: "gauge", help: "Round trip of the last ping to the other node.", peer: func(s *cluster.Status, id uint64) (float64, bool) {
		return s.Peers[id].RTT.Seconds(), s.Peers[id].RTT > 0
	}},
	{name: "peer_clock_skew_seconds", kind: "gauge", help: "How far the clock of the other node is ahead.", peer: func(s *cluster.Status, id uint64) (float64, bool) {
		return s.Peers[id].Skew.Seconds(), s.Peers[id].RTT > 0
	}},
	{name: "peer_messages_dropped_total", kind: "counter", help: "Messages that could not be sent to the other node.", peer: func(s *cluster.Status, id uint64) (float64, bool) { return float64(s.Peers[id].Dropped), true }},
	{name: "peer_lag_entries", kind: "gauge", help: "Entries that the log of the other node lacks; on the node that leads only.", peer: func(s *cluster.Status, id uint64) (float64, bool) {
		match := s.Match[id] // 0: unknown
		return float64(s.Last - min(match, s.Last)), match > 0
	}},
}

// voters returns the number of voters that are connected and at most that far behind.
func voters(s *cluster.Status, behind time.Duration) (n int) {
	for _, id := range s.Voters {
		if id == s.Node || s.Peers[id].Connected && s.Behind[id] <= behind {
			n++
		}
	}
	return n
}

func number(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// metricsType is the content type of the Prometheus format.
const metricsType = "text/plain; version=0.0.4; charset=utf-8"

// Metrics serves the cluster metrics of the node in the Prometheus format.
func (c *Control) Metrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", metricsType)
	c.WriteMetrics(w)
}

// WriteMetrics writes the metrics.
func (c *Control) WriteMetrics(w io.Writer) {
	now := c.node.Status()
	writeMetrics(w, &now)
}

func writeMetrics(w io.Writer, s *cluster.Status) {
	for _, f := range figures {
		if f.leads && s.Leader != s.Node {
			continue
		}
		fmt.Fprintf(w, "# HELP fiveways_cluster_%s %s\n# TYPE fiveways_cluster_%[1]s %[3]s\n", f.name, f.help, f.kind)
		if f.node != nil {
			fmt.Fprintf(w, "fiveways_cluster_%s %v\n", f.name, f.node(s))
			continue
		}
		for _, id := range slices.Sorted(maps.Keys(s.Peers)) {
			if v, known := f.peer(s, id); known {
				fmt.Fprintf(w, "fiveways_cluster_%s{node=\"%d\"} %v\n", f.name, id, v)
			}
		}
	}
}

// Ready is a health check for load balancers. It answers 200 if clients of this node are served, or
// 503 while no leader is heard, and once the node was removed.
func (c *Control) Ready(w http.ResponseWriter, _ *http.Request) {
	s := c.node.Status()
	ready(w, &s)
}

func ready(w http.ResponseWriter, s *cluster.Status) {
	otherwise := "no node leads"
	if s.Removed {
		otherwise = protocol.Removed
	}
	answer(w, s.Leader != 0, otherwise)
}

// Leads is a health check for load balancers. It answers 200 if this node leads, or else 503.
func (c *Control) Leads(w http.ResponseWriter, _ *http.Request) {
	s := c.node.Status()
	answer(w, s.Leader == s.Node, "another node leads, or none")
}

func answer(w http.ResponseWriter, yes bool, otherwise string) {
	if !yes {
		http.Error(w, otherwise, http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}
