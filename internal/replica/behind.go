package replica

import (
	"time"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/tracker"
)

const (
	// KeepsUpWithin is how old an entry may be that the log of a node still lacks. A node that
	// lacks an older one helps no majority: its disk is full or hangs, or it gets a snapshot.
	KeepsUpWithin = 3 * time.Second
	// MaxBehind is the greatest value in Status.Behind.
	MaxBehind = 5 * time.Second
)

// ends holds the index of the last entry in a leader's log at its latest ticks.
type ends struct {
	at   [MaxBehind / TickInterval]uint64
	next int // the oldest one, which the next tick replaces
	seen int // ticks since the leadership began
}

// begin begins a leadership: all entries up to last are old.
func (e *ends) begin(last uint64) {
	for i := range e.at {
		e.at[i] = last
	}
	e.seen = 0
}

func (e *ends) tick(last uint64) {
	e.at[e.next] = last
	e.next = (e.next + 1) % len(e.at)
	e.seen++
}

// behind returns the age of the oldest entry that a log lacks that ends with match, at most
// MaxBehind, or 0 if it lacks none that the last tick saw. It is also 0 for a log that is unknown
// because the leadership has just begun.
func (e *ends) behind(match uint64) time.Duration {
	if match == 0 && e.seen < electionTicks {
		return 0
	}
	for age := len(e.at); age > 0; age-- {
		if e.at[(e.next-age+len(e.at))%len(e.at)] > match {
			return time.Duration(age) * TickInterval
		}
	}
	return 0
}

// logs returns how far the log of each node is known to match this leader's, and how far behind it
// is.
func (c *core) logs() (match map[uint64]uint64, behind map[uint64]time.Duration) {
	match, behind = map[uint64]uint64{}, map[uint64]time.Duration{}
	c.raw.WithProgress(func(id uint64, _ raft.ProgressType, pr tracker.Progress) {
		match[id] = pr.Match
		if id != c.self {
			behind[id] = c.ends.behind(pr.Match)
		}
	})
	return match, behind
}
