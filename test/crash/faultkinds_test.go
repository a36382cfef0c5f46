package crash

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/clustertest"
)

// fault is a kind of fault that can be injected into a cluster.
type fault struct {
	name     string
	leader   bool // it hits the leader, otherwise a follower
	all      bool // it hits all nodes
	deposes  bool // another node must become the leader
	isolates bool // the node must stop answering its clients
	disk     bool // it is a disk fault
	hold     time.Duration
	strike   func(*faulty)
}

const (
	// outage is longer than a failover takes, and longer than an isolated node may continue to
	// deliver.
	outage = 3 * time.Second
	// slowness is the delay of each chunk of data on a slow connection.
	slowness = 50 * time.Millisecond
)

var faults = []fault{
	{name: "the leader is killed", leader: true, deposes: true, strike: kill},
	{name: "a follower is killed", strike: kill},
	{name: "all are killed", leader: true, all: true, strike: killAll},
	{name: "the leader hangs", leader: true, deposes: true, isolates: true, hold: outage, strike: hang},
	{name: "a follower hangs", hold: outage, strike: hang},
	{name: "the leader is lost with its disk", leader: true, deposes: true, strike: lose},
	{name: "a follower is lost with its disk", strike: lose},
	{name: "the leader gives its lead away", leader: true, deposes: true, strike: giveAway},
	{name: "the leader is cut off", leader: true, deposes: true, isolates: true, hold: outage, strike: cut(toIt, fromIt)},
	{name: "a follower is cut off", hold: outage, strike: cut(toIt, fromIt)},
	{name: "the leader hears nobody", leader: true, deposes: true, isolates: true, hold: outage, strike: cut(toIt)},
	{name: "a follower hears nobody", hold: outage, strike: cut(toIt)},
	{name: "nobody hears the leader", leader: true, deposes: true, isolates: true, hold: outage, strike: cut(fromIt)},
	{name: "nobody hears a follower", hold: outage, strike: cut(fromIt)},
	{name: "one follower does not hear the leader", leader: true, hold: outage, strike: cut(fromItToNext)},
	{name: "the leader does not hear one follower", leader: true, hold: outage, strike: cut(toItFromNext)},
	{name: "the leader's connections break", leader: true, strike: breakConnections},
	{name: "the leader's connections are slow", leader: true, hold: time.Second, strike: slow},
	{name: "the leader's disk is full", leader: true, deposes: true, disk: true, hold: time.Second, strike: fill},
	{name: "a follower's disk is full", disk: true, hold: time.Second, strike: fill},
	{name: "the leader's disk does not answer", leader: true, deposes: true, disk: true, hold: time.Second, strike: freeze},
	{name: "a follower's disk does not answer", disk: true, hold: outage, strike: freeze},
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func kill(f *faulty) { f.Cluster.Kill(f.hit) }

// killAll kills the leader first: otherwise it would see the other nodes' clients disconnect, and
// count their unacknowledged messages as returned.
func killAll(f *faulty) {
	for i := range f.Nodes {
		f.Cluster.Kill((f.hit + i) % 3)
	}
}

// lose replaces a lost node with a new one.
func lose(f *faulty) {
	f.Cluster.Kill(f.hit)
	f.Leader()
	f.Replace(f.hit)
}

func hang(f *faulty) {
	n := f.Nodes[f.hit]
	must(f.t, n.Pause())
	f.mend = func() { must(f.t, n.Continue()) }
}

func giveAway(f *faulty) {
	clustertest.Command(f.t, "cluster", "transfer", "--data", f.Nodes[f.hit].Dir)
}

// way selects one direction of a node's traffic with another node.
type way func(hit, other int) (w clustertest.Way, ok bool)

func toIt(hit, other int) (clustertest.Way, bool) { return clustertest.Way{From: other, To: hit}, true }

func fromIt(hit, other int) (clustertest.Way, bool) {
	return clustertest.Way{From: hit, To: other}, true
}

func toItFromNext(hit, other int) (clustertest.Way, bool) {
	return clustertest.Way{From: other, To: hit}, other == (hit+1)%3
}

func fromItToNext(hit, other int) (clustertest.Way, bool) {
	return clustertest.Way{From: hit, To: other}, other == (hit+1)%3
}

func cut(ways ...way) func(*faulty) {
	return func(f *faulty) { f.Network.Cut(f.ways(ways...)...) }
}

func (f *faulty) ways(ways ...way) (all []clustertest.Way) {
	for other := range f.Nodes {
		for _, of := range ways {
			if w, ok := of(f.hit, other); ok && other != f.hit {
				all = append(all, w)
			}
		}
	}
	return all
}

func breakConnections(f *faulty) { f.Network.Drop(f.hit) }

func slow(f *faulty) { f.Network.Slow(slowness, f.ways(toIt, fromIt)...) }

func fill(f *faulty) {
	filler := filepath.Join(f.disks[f.hit], "filler")
	brokertest.Fill(f.t, filler)
	f.mend = func() { must(f.t, os.Remove(filler)) }
}

func freeze(f *faulty) { f.mend = brokertest.Freeze(f.t, f.disks[f.hit]) }
