package clustertest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/daemon"
)

const (
	// Patience is the timeout of short operations. Only a cluster that is stuck uses it up.
	Patience = 60 * time.Second
	poll     = 50 * time.Millisecond
)

// Node is a node of a cluster, with its data folder and address.
type Node struct {
	*brokertest.Broker // nil while it is down
	Dir, Address       string
	Flags              []string // of `fiveways serve`, besides the data folder
	Binary             string   // "" means that of this version
}

// Cluster is a cluster of three nodes, each of which is a process.
type Cluster struct {
	t       testing.TB
	flags   []string // of every node
	Nodes   []*Node
	Network *Network // between the nodes; nil if they connect to each other directly
}

// Start founds a cluster of three nodes, and returns when all are voters.
func Start(t testing.TB, flags ...string) *Cluster {
	t.Helper()
	return Found(t, t.TempDir(), flags...)
}

// Found is Start with a data folder for the first node.
func Found(t testing.TB, dir string, flags ...string) *Cluster {
	t.Helper()
	c := Down(t, flags...)
	c.Nodes[0].Dir = dir
	c.found()
	return c
}

// Linked is Start with a Network between the nodes. dirs are the data folders of the first nodes.
// The others have temporary ones. It skips the test if the system does not tell which process owns
// a connection.
func Linked(t testing.TB, dirs []string, flags ...string) *Cluster {
	t.Helper()
	if _, err := os.Stat("/proc/net/tcp"); err != nil {
		t.Skip("a network that can be cut needs Linux: ", err)
	}
	c := &Cluster{t: t, flags: flags, Network: newNetwork(t.Context())}
	for range 3 {
		c.Add()
	}
	for i, dir := range dirs {
		c.Nodes[i].Dir = dir
	}
	c.found()
	return c
}

// found founds a cluster of three nodes that are down.
func (c *Cluster) found() {
	c.t.Helper()
	first := c.Nodes[0]
	Command(c.t, "cluster", "init", "--data", first.Dir, "--address", first.Address)
	c.Up(0)
	c.Until("the first node leads", func() bool { return c.Status(0).Leader == 1 })
	for i := 1; i < len(c.Nodes); i++ {
		c.Up(i, "--cluster-join", Command(c.t, "cluster", "token", "--data", first.Dir))
	}
	c.Until("all nodes have a vote", func() bool {
		return c.Count(protocol.RoleLearner) == 0 && c.Count(protocol.RoleFollower) == 2
	})
}

// Down returns three nodes that are down and have no data.
func Down(t testing.TB, flags ...string) *Cluster {
	t.Helper()
	c := &Cluster{t: t, flags: flags}
	for range 3 {
		c.Add()
	}
	return c
}

// Add adds a node that is down.
func (c *Cluster) Add() {
	c.t.Helper()
	n, place := &Node{Dir: c.t.TempDir(), Flags: []string{"--cluster-listen", ""}}, len(c.Nodes)
	if c.Network != nil {
		n.Flags = append(n.Flags, "--cluster-advertise", "", nameFlag, fmt.Sprintf(namePattern, place))
	}
	n.Flags = append(n.Flags, c.flags...)
	c.Nodes = append(c.Nodes, n)
	c.Move(place)
	c.t.Cleanup(func() {
		if n.Broker != nil {
			n.Kill()
			if c.t.Failed() {
				c.t.Logf("node at %s:\n%s", n.Address, n.Log())
			}
		}
	})
}

// Move gives a node that is down a new address.
func (c *Cluster) Move(i int) {
	c.t.Helper()
	n := c.Nodes[i]
	n.Address = freeAddress(c.t)
	n.Flags[1] = n.Address
	if c.Network != nil {
		n.Flags[1], n.Flags[3] = freeAddress(c.t), n.Address
		c.Network.open(c.t, n.Address, n.Flags[1], i)
	}
}

// Replace lets a new node, with an empty folder and a new address, join in place of a node that is
// down, and removes the latter. It returns when the new node is a voter.
func (c *Cluster) Replace(i int) {
	c.t.Helper()
	n, other := c.Nodes[i], c.Nodes[c.AnyUp()]
	lost := n.Address
	must(c.t, os.RemoveAll(n.Dir))
	c.Move(i)
	c.Up(i, "--cluster-join", Command(c.t, "cluster", "token", "--data", other.Dir))
	c.Until("the new node has a vote", func() bool { return c.member(n.Address).Role == protocol.RoleFollower })
	Command(c.t, "cluster", "remove", "--yes", fmt.Sprint(c.member(lost).Node), "--data", other.Dir)
}

// member returns the member at an address, or an empty Member if there is none.
func (c *Cluster) member(address string) protocol.Member {
	c.t.Helper()
	for _, m := range c.Status(c.AnyUp()).Members {
		if m.Address == address {
			return m
		}
	}
	return protocol.Member{}
}

// freeAddress returns an address on which nothing listens.
func freeAddress(t testing.TB) string {
	t.Helper()
	port, err := daemon.FreePort()
	must(t, err)
	return fmt.Sprintf("127.0.0.1:%d", port)
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

// Stop stops a node as an operator does.
func (c *Cluster) Stop(i int) {
	c.t.Helper()
	must(c.t, c.Nodes[i].Stop())
	c.Nodes[i].Broker = nil
}

// Kill kills a node.
func (c *Cluster) Kill(i int) {
	c.Nodes[i].Kill()
	c.Nodes[i].Broker = nil
}

// Status returns the state of the cluster as a node sees it.
func (c *Cluster) Status(i int) (s protocol.ClusterStatus) {
	c.t.Helper()
	must(c.t, json.Unmarshal([]byte(Command(c.t, "cluster", "status", "-o", "json", "--data", c.Nodes[i].Dir)), &s))
	return s
}

// Count returns how many nodes have a role, according to the first node that is up.
func (c *Cluster) Count(role string) (n int) {
	c.t.Helper()
	for _, m := range c.Status(c.AnyUp()).Members {
		if m.Role == role && m.About != nil {
			n++
		}
	}
	return n
}

// AnyUp returns the index of the first node that is up.
func (c *Cluster) AnyUp() int {
	for i, n := range c.Nodes {
		if n.Broker != nil {
			return i
		}
	}
	c.t.Fatal("no node is up")
	return 0
}

// Leader waits for a leader and returns its index.
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

// Until waits until ok returns true. what describes that for the error message.
func (c *Cluster) Until(what string, ok func() bool) {
	c.t.Helper()
	for deadline := time.Now().Add(Patience); !ok(); <-time.After(poll) {
		if time.Now().After(deadline) {
			c.t.Fatalf("not so in time: %s", what)
		}
	}
}

// Command runs the program and returns its output.
func Command(t testing.TB, args ...string) string {
	t.Helper()
	out, err := Ask(t, args...)
	must(t, err)
	return out
}

// Ask is Command for commands that may fail.
func Ask(t testing.TB, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), brokertest.Binary(t), args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("fiveways %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
