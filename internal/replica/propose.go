package replica

import (
	"slices"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"

	"fiveways.dev/fiveways/internal/storage/store"
)

const (
	roundBytes = 1 << 20 // of proposals that share an entry
	fewOpen    = 2       // open entries from which on proposals wait in order to share one
)

// openEntry is an entry of this leadership that is not known to be committed.
type openEntry struct {
	data   []byte
	index  uint64        // 0 until Raft has assigned one
	at     time.Duration // when its first proposal was submitted
	change bool
	own    bool
	done   []func(error)
}

// submit accepts a proposal of a leadership.
func (c *core) submit(p proposal) {
	defer c.guard()
	switch {
	case c.failed != nil || c.leading != p.log:
		p.done(ErrNotLeader)
	case groupData(p.group) > MaxGroupBytes: // the machine has applied what the log cannot take
		c.fail(ErrTooLarge)
		p.done(store.ErrLost)
	case p.read:
		c.ask([]func(error){p.done})
	case p.group == nil && p.own == nil && len(c.waiting) == 0:
		c.barrier(p.done)
	default:
		c.enqueue(p)
	}
}

func (c *core) enqueue(p proposal) {
	p.at, p.size = c.now(), batchSize(p.group)
	c.waiting = append(c.waiting, p)
	c.filled += p.size
}

// barrier calls done once all earlier proposals are committed.
func (c *core) barrier(done func(error)) {
	if n := len(c.open); n > 0 {
		c.open[n-1].done = append(c.open[n-1].done, done)
		return
	}
	done(nil)
}

// propose turns waiting proposals into entries, all of them or those that are worth one.
func (c *core) propose(all bool) {
	if c.leadTerm == 0 {
		return
	}
	for len(c.waiting) > 0 && (all || c.worthwhile()) {
		e, n := c.round()
		if len(e.data) > 0 {
			if err := c.raw.Propose(e.data); err != nil {
				return // too much is open, or a transfer is in progress: it waits
			}
			c.open = append(c.open, e)
			if e.at = c.waiting[0].at; e.own {
				c.own++
			}
		}
		for _, p := range c.waiting[:n] {
			c.filled -= p.size
		}
		clear(c.waiting[:n])
		c.waiting = c.waiting[n:]
		if len(e.data) == 0 {
			for _, fn := range e.done {
				c.barrier(fn)
			}
		}
	}
}

// worthwhile reports whether the first waiting proposals become an entry now. Each entry costs
// every node a sync and a message, so while some are open the proposals wait until one is
// committed, or until they fill an entry. Those of the replica itself share none: they do not wait,
// and no other waits because of them.
func (c *core) worthwhile() bool {
	return len(c.open)-c.own < fewOpen || c.filled >= roundBytes || c.waiting[0].own != nil
}

// round packs waiting proposals into an entry, and returns their number. If the entry has no data,
// they are only barriers.
func (c *core) round() (e *openEntry, n int) {
	e = &openEntry{}
	for _, p := range c.waiting {
		if p.own != nil {
			if n == 0 {
				e.data, e.done, e.own, n = p.own, append(e.done, p.done), true, 1
			}
			break
		}
		if len(e.data) > 0 && len(e.data)+batchSize(p.group) > roundBytes {
			break
		}
		if len(p.group) > 0 {
			e.data = appendBatch(e.data, p.group)
		}
		e.done = append(e.done, p.done)
		n++
	}
	return e, n
}

// placed records the index of the oldest proposed entry without an index, if e is that entry. Raft
// keeps their order. It adds entries without data of its own: one at the start of a term, when
// nothing is open, and one after some membership changes.
func (c *core) placed(e *pb.Entry) {
	i := slices.IndexFunc(c.open, func(o *openEntry) bool { return o.index == 0 })
	if i < 0 {
		return
	}
	o := c.open[i]
	normal, empty := e.GetType() == pb.EntryNormal, len(e.GetData()) == 0
	switch {
	case o.change && normal && empty: // Raft refused the change and replaced it by this entry
		o.index = e.GetIndex()
		tell(o.done, ErrBusy)
		o.done = nil
	case o.change != normal && !empty:
		o.index = e.GetIndex()
	}
}

// uncommitted returns the age of the oldest proposal that is not committed, or 0 if there is none.
func (c *core) uncommitted() time.Duration {
	switch {
	case len(c.open) > 0:
		return c.now() - c.open[0].at
	case len(c.waiting) > 0:
		return c.now() - c.waiting[0].at
	}
	return 0
}
