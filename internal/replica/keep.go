package replica

import (
	"errors"

	"go.etcd.io/raft/v3"
	"go.etcd.io/raft/v3/tracker"

	"fiveways.dev/fiveways/internal/storage/store"
)

const (
	// defaultKeep is how much of the log is kept for a slow follower.
	defaultKeep = 1 << 30
	// keepTicks is how often the leader checks which entries are needed.
	keepTicks = 10
	// holdTicks is how long the log is kept for a node that has a snapshot and makes no progress.
	holdTicks = 600
	// holdTimes is how many times as much of the log is kept for such a node. A node that is slower
	// than the load must not fill the disks of all others.
	holdTimes = 8
)

// hold keeps the log for a node from its snapshot on: without the entries that follow, it would
// need another snapshot, under load again and again.
type hold struct {
	snapshot uint64 // its last entry
	match    uint64 // the node's progress, as last seen
	until    int    // tick
}

// spare makes all replicas drop whole segments of the log that no live node needs, and everything
// more than c.keep bytes back, or more if a node needs it after a snapshot. The leader decides,
// because it knows the progress of the others. The decision is logged, because any node may become
// leader and must then have the entries that others need.
func (c *core) spare() {
	if c.leading == nil || c.sparing || c.ticks%keepTicks != 0 {
		return
	}
	low, most := c.applied, c.keep
	if c.snap.pinned != 0 {
		low, most = min(low, c.snap.pinned), holdTimes*c.keep
	}
	c.raw.WithProgress(func(id uint64, _ raft.ProgressType, pr tracker.Progress) {
		switch from, held := c.held(id, pr.Match); {
		case id == c.self:
		case held:
			low, most = min(low, from), holdTimes*c.keep
		case pr.RecentActive:
			low = min(low, c.needs(pr))
		}
	})
	index := min(c.log.Spare(low, most), c.applied)
	if index < c.log.First() {
		return
	}
	c.sparing = true
	c.proposeOwn(encodeKeep(index), func(error) { c.sparing = false })
}

// hold begins to hold the log for a node that has a snapshot up to an entry.
func (c *core) hold(id, snapshot uint64) {
	if c.holds == nil {
		c.holds = map[uint64]hold{}
	}
	c.holds[id] = hold{snapshot: snapshot, until: c.ticks + holdTicks}
}

// held returns the entry after which the log is held for a node. It is no longer held once the node
// lacks only what is kept for any node, or makes no progress.
func (c *core) held(id, match uint64) (from uint64, held bool) {
	h, held := c.holds[id]
	if !held {
		return 0, false
	}
	if match > h.match {
		h.match, h.until = match, c.ticks+holdTicks
		c.holds[id] = h
	}
	if match >= h.snapshot && c.log.Spare(match, c.keep) <= match || c.ticks > h.until {
		delete(c.holds, id)
		return 0, false
	}
	return max(h.snapshot, match), true
}

// needs returns the entry after which a live node needs the log.
func (c *core) needs(pr tracker.Progress) uint64 {
	if pr.Match+1 >= c.log.First() {
		return pr.Match
	}
	return c.applied // it needs a snapshot
}

// letGo carries out a decision of spare, on every replica.
func (c *core) letGo(index uint64) error {
	err := c.compact(index)
	if errors.Is(err, store.ErrNoSpace) {
		return nil // retried with the next entry
	}
	return err
}

// compact drops the entries up to index that are applied.
func (c *core) compact(index uint64) error {
	index = min(index, c.applied, c.log.Committed())
	if c.snap.preparing && c.snap.pinned != 0 {
		index = min(index, c.snap.pinned)
	}
	if index < c.log.First() {
		return nil
	}
	// Save the members first: afterwards the changes up to MembersAt may be gone.
	if err := c.saveMembers(); err != nil {
		return err
	}
	return c.log.Compact(index)
}
