package clustertest

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"fiveways/internal/protocol"
	"fiveways/test/brokertest"
	"fiveways/test/daemon"
)

const (
	// Patience is for what takes a moment; only a cluster that is stuck uses it up.
	Patience = 60 * time.Second
	poll     = 50 * time.Millisecond
)

// Node is a machine that a node of the cluster runs on.
type Node struct {
	*brokertest.Broker // nil: it is down
	Dir, Address       string
	Flags              []string // of `fiveways serve`, beside the data folder
	Binary             string   // "": that of this version
}

// Cluster is three nodes in processes of their own.
type Cluster struct {
	t     testing.TB
	flags []string // of every node
	Nodes []*Node
}

// Start founds a cluster of three nodes, and returns when all have a vote.
func Start(t testing.TB, flags ...string) *Cluster {
	t.Helper()
	return Found(t, t.TempDir(), flags...)
}

// Found is Start with what the folder of the first node has.
func Found(t testing.TB, dir string, flags ...string) *Cluster {
	t.Helper()
	c := Down(t, flags...)
	first := c.Nodes[0]
	first.Dir = dir
	Command(t, "cluster", "init", "--data", first.Dir, "--address", first.Address)
	c.Up(0)
	c.Until("the first node leads", func() bool { return c.Status(0).Leader == 1 })
	for i := 1; i < len(c.Nodes); i++ {
		c.Up(i, "--cluster-join", Command(t, "cluster", "token", "--data", first.Dir))
	}
	c.Until("all nodes have a vote", func() bool {
		return c.Count(protocol.RoleLearner) == 0 && c.Count(protocol.RoleFollower) == 2
	})
	return c
}

// Down is three nodes that are down and have no data.
func Down(t testing.TB, flags ...string) *Cluster {
	t.Helper()
	c := &Cluster{t: t, flags: flags}
	for range 3 {
		c.Add()
	}
	return c
}

// Add has one node more, which is down.
func (c *Cluster) Add() {
	c.t.Helper()
	port, err := daemon.FreePort()
	must(c.t, err)
	n := &Node{Dir: c.t.TempDir(), Address: fmt.Sprintf("127.0.0.1:%d", port)}
	n.Flags = append([]string{"--cluster-listen", n.Address}, c.flags...)
	c.Nodes = append(c.Nodes, n)
	c.t.Cleanup(func() {
		if n.Broker != nil {
			n.Kill()
			if c.t.Failed() {
				c.t.Logf("node at %s:\n%s", n.Address, n.Log())
			}
		}
	})
}

// Move gives a node that is down another address.
func (c *Cluster) Move(i int) {
	c.t.Helper()
	port, err := daemon.FreePort()
	must(c.t, err)
	n := c.Nodes[i]
	n.Address = fmt.Sprintf("127.0.0.1:%d", port)
	n.Flags[1] = n.Address
}

// Up starts a node.
func (c *Cluster) Up(i int, flags ...string) {
	c.t.Helper()
	n := c.Nodes[i]
	if n.Binary == "" {
		n.Binary = brokertest.Binary(c.t)
	}
	b, err := brokertest.StartBinary(c.t.Context(), n.Binary, n.Dir, append(n.Flags, flags...)...)
	must(c.t, err)
	n.Broker = b
}

// Stop ends a node as an operator does.
func (c *Cluster) Stop(i int) {
	c.t.Helper()
	must(c.t, c.Nodes[i].Stop())
	c.Nodes[i].Broker = nil
}

// Kill ends a node at once.
func (c *Cluster) Kill(i int) {
	c.Nodes[i].Kill()
	c.Nodes[i].Broker = nil
}

// Status is the cluster as a node knows it.
func (c *Cluster) Status(i int) (s protocol.ClusterStatus) {
	c.t.Helper()
	must(c.t, json.Unmarshal([]byte(Command(c.t, "cluster", "status", "-o", "json", "--data", c.Nodes[i].Dir)), &s))
	return s
}

// Count is how many nodes have a role, as the first one that is up knows it.
func (c *Cluster) Count(role string) (n int) {
	c.t.Helper()
	for _, m := range c.Status(c.AnyUp()).Members {
		if m.Role == role && m.About != nil {
			n++
		}
	}
	return n
}

// AnyUp is the first node that is up.
func (c *Cluster) AnyUp() int {
	for i, n := range c.Nodes {
		if n.Broker != nil {
			return i
		}
	}
	c.t.Fatal("no node is up")
	return 0
}

// Leader waits for a node that leads and returns its place.
func (c *Cluster) Leader() (i int) {
	c.t.Helper()
	c.Until("a node leads", func() bool {
		s := c.Status(c.AnyUp())
		for _, m := range s.Members {
			if m.Role != protocol.RoleLeader {
				continue
			}
			for at, n := range c.Nodes {
				if n.Address == m.Address && n.Broker != nil {
					i = at
					return true
				}
			}
		}
		return false
	})
	return i
}

// Until waits until something is so.
func (c *Cluster) Until(what string, ok func() bool) {
	c.t.Helper()
	for deadline := time.Now().Add(Patience); !ok(); <-time.After(poll) {
		if time.Now().After(deadline) {
			c.t.Fatalf("not so in time: %s", what)
		}
	}
}

// Command runs the program and returns what it prints.
func Command(t testing.TB, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), brokertest.Binary(t), args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("fiveways %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
