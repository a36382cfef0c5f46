package protocol

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"fiveways.dev/fiveways/internal/monitor"
	"fiveways.dev/fiveways/internal/replica/level"
)

// Cluster is the cluster of a broker, from its leader's view. Any goroutine may call its methods.
type Cluster interface {
	// Status returns what this node last heard. It asks no other node.
	Status() ClusterStatus
	// Transfer asks another node to take over as leader, and does not wait for it. It returns an
	// error if the node is down, has no vote, or does not keep up with the log, and stays so for a
	// second.
	Transfer(ctx context.Context, node uint64) error
	// Remove removes a node for good. It returns the errors of replica.Replica.Remove.
	Remove(ctx context.Context, node uint64) error
}

// The roles of a node.
const (
	RoleLeader   = "leader"
	RoleFollower = "follower"
	RoleLearner  = "learner" // gets the log, but has no vote yet or does not know that it has one
)

// ClusterStatus is a cluster as one of its nodes knows it.
type ClusterStatus struct {
	Cluster   string   `json:"cluster"`
	Node      uint64   `json:"node"`              // whose view this is
	Leader    uint64   `json:"leader"`            // 0: unknown, or silent for some seconds
	Removed   bool     `json:"removed,omitempty"` // the node knows that it is no member any more
	Term      uint64   `json:"term"`
	Last      uint64   `json:"last"` // index of the last entry of its log
	Committed uint64   `json:"committed"`
	Level     uint64   `json:"level"`   // level of the log: which kinds of entries it may contain
	Members   []Member `json:"members"` // by number
}

// Member is a node as another node knows it.
type Member struct {
	Node    uint64        `json:"node"`
	Address string        `json:"address"` // host:port for the other nodes
	Role    string        `json:"role"`
	Up      bool          `json:"up"`              // it is this node, or connected to it
	About   *About        `json:"about,omitempty"` // what it last reported; nil: nothing
	Said    string        `json:"name,omitempty"`  // the last name it reported, maybe long ago; "": none
	Match   *uint64       `json:"match,omitempty"` // its log equals the leader's up to this index; nil: unknown
	Lags    bool          `json:"lags,omitempty"`  // its log is so far behind that it helps no majority; false if unknown
	RTT     time.Duration `json:"rtt_ns"`
	Skew    time.Duration `json:"skew_ns"` // of its clock, positive if it is ahead
}

// About is what a node reports about itself.
type About struct {
	Name          string          `json:"name"`
	Version       string          `json:"version"`
	Levels        level.Range     `json:"levels"`  // levels of the log that it supports
	Applied       uint64          `json:"applied"` // index of the last entry that it has applied
	Votes         bool            `json:"votes"`   // it knows that it has a vote
	Started       time.Time       `json:"started"`
	PID           int             `json:"pid"`
	Processors    int             `json:"processors"`
	Process       monitor.Process `json:"process"`
	MemoryLimit   int64           `json:"memory_limit"`    // bytes that the process should stay below
	DiskFree      int64           `json:"disk_free"`       // bytes; -1: unknown
	DiskFreeLimit int64           `json:"disk_free_limit"` // bytes: the alarm is on while DiskFree is below
	Endpoints     []Endpoint      `json:"endpoints"`       // with host names for clients
}

// Removed is what a node says that was removed from its cluster.
const Removed = "this node was removed from the cluster"

// LowOnDisk reports whether the node has less free space than its limit. As leader it would block
// publishers.
func (a *About) LowOnDisk() bool { return a.DiskFree >= 0 && a.DiskFree < a.DiskFreeLimit }

// NodeName returns the name of a node without a configured name.
func NodeName(node uint64) string { return fmt.Sprintf("fiveways-%d", node) }

// Name returns the node's name, NodeName until it has reported one.
func (m *Member) Name() string {
	if m.About != nil {
		return m.About.Name
	}
	return cmp.Or(m.Said, NodeName(m.Node))
}

// Votes reports whether the node has a vote.
func (m *Member) Votes() bool { return m.Role != RoleLearner }

// Lag returns how many entries a member's log lacks. known is false on nodes other than the leader,
// and on the leader until the member has reported the state of its log.
func (s *ClusterStatus) Lag(m *Member) (entries uint64, known bool) {
	if m.Match == nil || *m.Match == 0 {
		return 0, false
	}
	return s.Last - min(*m.Match, s.Last), true
}

// Member returns the member with this number, or nil if there is none.
func (s *ClusterStatus) Member(node uint64) *Member {
	if i := slices.IndexFunc(s.Members, func(m Member) bool { return m.Node == node }); i >= 0 {
		return &s.Members[i]
	}
	return nil
}

// Critical reports whether the loss of one more voter would stop all writes. Voters that are down,
// or do not keep up with the log, count as lost: they confirm nothing new.
func (s *ClusterStatus) Critical() bool {
	voters, up := 0, 0
	for i := range s.Members {
		if s.Members[i].Votes() {
			voters++
			if s.Members[i].Up && !s.Members[i].Lags {
				up++
			}
		}
	}
	return up <= voters/2+1
}
