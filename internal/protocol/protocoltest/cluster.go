package protocoltest

import (
	"context"
	"time"

	"fiveways.dev/fiveways/internal/monitor"
	"fiveways.dev/fiveways/internal/protocol"
)

// Cluster is one whose status a test makes up.
type Cluster struct {
	Now     protocol.ClusterStatus
	Asked   []uint64 // the nodes that were asked to lead
	Removed []uint64
	Refusal error // of Transfer and Remove
}

var _ protocol.Cluster = (*Cluster)(nil)

// ThreeNodes returns a cluster in term 7: n1, which leads, n2, which is up and three of 100 entries
// behind, and node 3, which is down and has said nothing. n1 and n2 serve etcd's API.
func ThreeNodes() *Cluster {
	about := func(name, etcd string) *protocol.About {
		return &protocol.About{
			Name: name, Version: "v1.2.3", Applied: 97, PID: 42, Processors: 4, Process: monitor.Process{Memory: 1 << 20, Files: 30, MostFiles: 1024},
			DiskFree: 1 << 30, DiskFreeLimit: 1 << 20, Endpoints: []protocol.Endpoint{{Protocol: "etcd", Address: etcd}},
		}
	}
	index := func(i uint64) *uint64 { return &i }
	return &Cluster{Now: protocol.ClusterStatus{Cluster: "00000000000000c1", Node: 1, Leader: 1, Term: 7, Last: 100, Committed: 99, Members: []protocol.Member{
		{Node: 1, Address: "n1:5680", Role: protocol.RoleLeader, Up: true, About: about("n1", "n1:2379"), Match: index(100)},
		{Node: 2, Address: "n2:5680", Role: protocol.RoleFollower, Up: true, About: about("n2", "n2:2379"), Match: index(97), RTT: time.Millisecond, Skew: -20 * time.Millisecond},
		{Node: 3, Address: "n3:5680", Role: protocol.RoleFollower, Match: index(0)},
	}}}
}

// Status implements protocol.Cluster.
func (c *Cluster) Status() protocol.ClusterStatus { return c.Now }

// Transfer implements protocol.Cluster.
func (c *Cluster) Transfer(_ context.Context, node uint64) error {
	if c.Refusal == nil {
		c.Asked = append(c.Asked, node)
	}
	return c.Refusal
}

// Remove implements protocol.Cluster.
func (c *Cluster) Remove(_ context.Context, node uint64) error {
	if c.Refusal == nil {
		c.Removed = append(c.Removed, node)
	}
	return c.Refusal
}
