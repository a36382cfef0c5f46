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
)

// spare makes all replicas drop whole segments of the log that no live node needs, and everything
// more than c.keep bytes back. The leader decides, because it knows the progress of the others. The
// decision is logged, because any node may become leader and must then have the entries that others
// need.
func (c *core) spare() {
	if c.leading == nil || c.sparing || c.ticks%keepTicks != 0 {
		return
	}
	low := c.applied
	c.raw.WithProgress(func(id uint64, _ raft.ProgressType, pr tracker.Progress) {
		if id != c.self && pr.RecentActive {
			low = min(low, c.needs(pr))
		}
	})
	index := min(c.log.Spare(low, c.keep), c.applied)
	if index < c.log.First() {
		return
	}
	c.sparing = true
	c.proposeOwn(encodeKeep(index), func(error) { c.sparing = false })
}

// needs returns the entry after which a node needs the log.
func (c *core) needs(pr tracker.Progress) uint64 {
	switch {
	case pr.Match+1 >= c.log.First():
		return pr.Match
	case c.snap.pinned != 0: // it needs a snapshot, and will get this one
		return c.snap.pinned
	}
	return c.applied
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
