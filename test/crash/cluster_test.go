package crash

import (
	"errors"
	"testing"

	"fiveways.dev/fiveways/test/clustertest"
	"fiveways.dev/fiveways/test/crash/loads"
)

// TestCluster is TestCrash for a cluster of three nodes. Each kill hits either the leader or all
// nodes. The clients connect to a follower.
func TestCluster(t *testing.T) {
	plan := drawPlan(t)
	for _, name := range messageLoads {
		t.Run(name, func(t *testing.T) {
			c := clustertest.Start(t, "--shards", "3")
			round := 0
			loads.Find(t, name).Run(t, plan, func() loads.Broker {
				round++
				return begin(t, c, round)
			})
		})
	}
}

// nodes is a cluster with a leader. It implements loads.Broker.
type nodes struct {
	*clustertest.Node // where clients connect
	cluster           *clustertest.Cluster
	leader            int  // its index
	all               bool // Kill kills all nodes
}

// begin starts all nodes of the cluster and waits for a leader.
func begin(t *testing.T, c *clustertest.Cluster, round int) *nodes {
	t.Helper()
	for i, n := range c.Nodes {
		if n.Broker == nil {
			c.Up(i)
		}
	}
	leader := c.Leader()
	return &nodes{c.Nodes[(leader+round%3)%3], c, leader, round%4 == 0}
}

func (n *nodes) Exited() <-chan struct{} { return n.cluster.Nodes[n.leader].Exited() }

func (n *nodes) Log() string { return logOf(n.cluster) }

// logOf returns the logs of all nodes.
func logOf(c *clustertest.Cluster) (all string) {
	for _, one := range c.Nodes {
		if one.Broker != nil {
			all += one.Address + ":\n" + one.Log()
		}
	}
	return all
}

// Kill kills the leader, and in some rounds the other nodes too. The leader goes first: otherwise
// it would see the other nodes' clients disconnect, and count their unacknowledged messages as
// returned.
func (n *nodes) Kill() {
	if n.cluster.Nodes[n.leader].Broker != nil {
		n.cluster.Kill(n.leader)
	}
	for i, one := range n.cluster.Nodes {
		if one.Broker != nil && n.all {
			n.cluster.Kill(i)
		}
	}
}

func (n *nodes) Stop() (err error) {
	for _, one := range n.cluster.Nodes {
		err = errors.Join(err, one.Stop())
		one.Broker = nil
	}
	return err
}
