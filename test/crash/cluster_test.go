package crash

import (
	"errors"
	"math/rand/v2"
	"testing"

	"fiveways.dev/fiveways/test/clustertest"
)

// TestCluster is TestCrash for a cluster of three nodes, of which the one that leads is killed, or
// all are. The clients connect to one that follows.
func TestCluster(t *testing.T) {
	rounds, seed := setting(t, "CRASH_ROUNDS", 4), setting(t, "CRASH_SEED", rand.IntN(1_000_000))
	t.Logf("CRASH_ROUNDS=%d CRASH_SEED=%d", rounds, seed)
	for name, s := range map[string]scenario{"plain": plain, "delayed": delayed, "once": once, "limited": limited, "grouped": grouped} {
		t.Run(name, func(t *testing.T) {
			c := clustertest.Start(t, "--shards", "3")
			round := 0
			s.runOn(t, Plan{Rounds: rounds, Seed: seed}, s.elsewhere, func(*History) broker {
				round++
				return begin(t, c, round)
			})
		})
	}
}

// nodes is a cluster in which one node leads.
type nodes struct {
	*clustertest.Cluster
	leader, client int  // places: which leads, and where clients connect
	all            bool // are killed
}

// begin has all nodes of a cluster up.
func begin(t *testing.T, c *clustertest.Cluster, round int) *nodes {
	t.Helper()
	for i, n := range c.Nodes {
		if n.Broker == nil {
			c.Up(i)
		}
	}
	leader := c.Leader()
	return &nodes{c, leader, (leader + round%3) % 3, round%4 == 0}
}

func (n *nodes) URL() string { return n.Nodes[n.client].URL() }

func (n *nodes) Exited() <-chan struct{} { return n.Nodes[n.leader].Exited() }

func (n *nodes) Log() string { return logOf(n.Cluster) }

// logOf is what all nodes have logged.
func logOf(c *clustertest.Cluster) (all string) {
	for _, one := range c.Nodes {
		if one.Broker != nil {
			all += one.Address + ":\n" + one.Log()
		}
	}
	return all
}

// Kill kills the node that leads, and the others when it is their round. It is the first: else it
// would see the clients of the others go, and count what these had as given back.
func (n *nodes) Kill() {
	if n.Nodes[n.leader].Broker != nil {
		n.Cluster.Kill(n.leader)
	}
	for i, one := range n.Nodes {
		if one.Broker != nil && n.all {
			n.Cluster.Kill(i)
		}
	}
}

func (n *nodes) Stop() (err error) {
	for _, one := range n.Nodes {
		err = errors.Join(err, one.Stop())
		one.Broker = nil
	}
	return err
}
