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

// Cluster is the cluster that a broker serves, as the node that leads knows it. Any goroutine may
// call its methods.
type Cluster interface {
	// Status is how things stood a moment ago; no node is asked for it.
	Status() ClusterStatus
	// Transfer has another node lead, soon. It must be a voter that is up: others are not taken.
	Transfer(node uint64)
	// Remove has a node leave for ever. Errors: those of replica.Replica.Remove.
	Remove(ctx context.Context, node uint64) error
}

// The roles of a node.
const (
	RoleLeader   = "leader"
	RoleFollower = "follower"
	RoleLearner  = "learner" // gets the log, and has no vote yet or does not know that it has one
)

// ClusterStatus is a cluster as one of its nodes knows it.
type ClusterStatus struct {
	Cluster   string   `json:"cluster"`
	Node      uint64   `json:"node"`   // that says so
	Leader    uint64   `json:"leader"` // 0: none is known
	Term      uint64   `json:"term"`
	Last      uint64   `json:"last"` // index of the last entry of its log
	Committed uint64   `json:"committed"`
	Level     uint64   `json:"level"`   // of the log: what kinds of entries it may have
	Members   []Member `json:"members"` // by number
}

// Member is a node as another one knows it.
type Member struct {
	Node    uint64        `json:"node"`
	Address string        `json:"address"` // host:port for the other nodes
	Role    string        `json:"role"`
	Up      bool          `json:"up"`              // it is connected to the one that says so, or is that
	About   *About        `json:"about,omitempty"` // what it has said; nil: nothing
	Said    string        `json:"name,omitempty"`  // the name that it has said last, maybe long ago; "": none
	Match   *uint64       `json:"match,omitempty"` // index up to which its log is that of the leader; nil: not known
	RTT     time.Duration `json:"rtt_ns"`
	Skew    time.Duration `json:"skew_ns"` // of its clock, positive when it is ahead
}

// About is what a node says of itself.
type About struct {
	Name          string          `json:"name"`
	Version       string          `json:"version"`
	Levels        level.Range     `json:"levels"`  // of the log, that it supports
	Applied       uint64          `json:"applied"` // index of the last entry that its state has
	Votes         bool            `json:"votes"`   // it knows that it has a vote
	Started       time.Time       `json:"started"`
	PID           int             `json:"pid"`
	Processors    int             `json:"processors"`
	Process       monitor.Process `json:"process"`
	MemoryLimit   int64           `json:"memory_limit"`    // bytes that the process should stay below
	DiskFree      int64           `json:"disk_free"`       // bytes; -1: not known
	DiskFreeLimit int64           `json:"disk_free_limit"` // bytes of DiskFree that are too few
	Endpoints     []Endpoint      `json:"endpoints"`       // with hosts by which clients may reach them
}

// NodeName is the name of a node of a cluster that was not given one.
func NodeName(node uint64) string { return fmt.Sprintf("fiveways-%d", node) }

// Name is what the node is called; NodeName as long as it has not said that.
func (m *Member) Name() string {
	if m.About != nil {
		return m.About.Name
	}
	return cmp.Or(m.Said, NodeName(m.Node))
}

// Votes reports whether the node has a vote.
func (m *Member) Votes() bool { return m.Role != RoleLearner }

// Lag is how many entries the log of a member lacks. known is false where only the leader knows,
// and on the leader as long as it has not heard of the member's log.
func (s *ClusterStatus) Lag(m *Member) (entries uint64, known bool) {
	if m.Match == nil || *m.Match == 0 {
		return 0, false
	}
	return s.Last - min(*m.Match, s.Last), true
}

// Member is that of a number; nil: there is none.
func (s *ClusterStatus) Member(node uint64) *Member {
	if i := slices.IndexFunc(s.Members, func(m Member) bool { return m.Node == node }); i >= 0 {
		return &s.Members[i]
	}
	return nil
}

// Critical reports whether the voters that are up are so few that without one of them nothing could
// be written.
func (s *ClusterStatus) Critical() bool {
	voters, up := 0, 0
	for i := range s.Members {
		if s.Members[i].Votes() {
			voters++
			if s.Members[i].Up {
				up++
			}
		}
	}
	return up <= voters/2+1
}
