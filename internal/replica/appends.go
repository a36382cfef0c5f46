package replica

import (
	"errors"
	"fmt"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"fiveways.dev/fiveways/internal/storage/store"
)

// begunAppend is an append to the log that is not durable yet, or waits for one before it.
type begunAppend struct {
	m      *pb.Message
	stable bool
	since  int // tick
}

// persist begins the appends that Raft has asked for. Entries wait while the machine restores: its
// earlier, uncommitted work still acts on the store, and must not meet entries of another leader
// there.
func (c *core) persist() {
	for len(c.backlog) > 0 && c.failed == nil {
		if c.restores && len(c.backlog[0].GetEntries()) > 0 {
			return // it may contain committed entries
		}
		if c.cuts(c.backlog[0]) && len(c.begun) > 0 {
			return // the core would wait for the disk, which may be full
		}
		err := c.begin(c.backlog[0])
		if errors.Is(err, store.ErrNoSpace) {
			return // the next tick tries again
		}
		if err != nil {
			c.fail(err)
			return
		}
		c.backlog = c.backlog[1:]
	}
	c.committed()
}

// begin starts making an append durable. It writes term and vote before it returns, so that no
// entry of a term is durable before the state knows the term.
func (c *core) begin(m *pb.Message) error {
	if !raft.IsEmptySnap(m.GetSnapshot()) {
		return c.install(m)
	}
	if m.Term != nil {
		st := c.log.State()
		if m.GetTerm() != st.Term || m.GetVote() != st.Vote {
			st.Term, st.Vote = m.GetTerm(), m.GetVote()
			if err := c.out.save(st); err != nil {
				return err
			}
		}
	}
	entries := m.GetEntries()
	if len(entries) == 0 {
		c.begun = append(c.begun, begunAppend{m: m, stable: true, since: c.ticks})
		c.finishAppends()
		return nil
	}
	if c.cuts(m) {
		if err := c.log.Rewind(entries[0].GetIndex()); err != nil {
			return err
		}
	}
	c.begun = append(c.begun, begunAppend{m: m, since: c.ticks})
	for i, e := range entries {
		if err := checkRaise(e, c.levels); err != nil {
			return err
		}
		se, err := toStore(e)
		if err != nil {
			return err
		}
		se.Applied = c.leadTerm != 0 && se.Term == c.leadTerm
		last := i == len(entries)-1
		c.out.append(se, func(err error) {
			if last || err != nil {
				c.out.later(func(c *core) { c.stable(err) })
			}
		})
	}
	c.disk.wrote(entries)
	return nil
}

// cuts reports whether entries of the log are cut for an append.
func (c *core) cuts(m *pb.Message) bool {
	entries := m.GetEntries()
	return len(entries) > 0 && entries[0].GetIndex() <= c.log.Last().Index
}

// stable is called when the entries of the oldest append in progress are durable.
func (c *core) stable(err error) {
	if c.failed != nil {
		return
	}
	if err != nil {
		c.fail(err)
		return
	}
	for i := range c.begun {
		if b := &c.begun[i]; !b.stable {
			b.stable = true
			break
		}
	}
	c.finishAppends()
	c.persist()
}

func (c *core) finishAppends() {
	for len(c.begun) > 0 && c.begun[0].stable {
		m := c.begun[0].m
		c.begun[0] = begunAppend{}
		c.begun = c.begun[1:]
		c.respond(m)
	}
}

// respond sends the replies that waited for an append or an apply to finish.
func (c *core) respond(m *pb.Message) {
	var out []*pb.Message
	for _, r := range m.GetResponses() {
		if r.GetTo() != c.self {
			out = append(out, r)
		} else if err := c.raw.Step(r); err != nil && !errors.Is(err, raft.ErrStepPeerNotFound) { // this node was removed
			c.fail(fmt.Errorf("replica: %w", err))
			return
		}
	}
	if len(out) > 0 {
		c.out.send(out)
	}
}

// committed tells the store and the proposers which entries are committed. The proposer of a
// membership change is told once this node has applied it: Raft refuses the next change until then.
// Those of later entries wait with it.
func (c *core) committed() {
	if c.failed != nil {
		return
	}
	if index := min(c.commit, c.lasting()); index > c.log.Committed() {
		c.log.Commit(index)
	}
	for len(c.open) > 0 && c.open[0].index != 0 && c.open[0].index <= c.commit {
		e := c.open[0]
		if e.change && e.index > c.applied {
			return
		}
		c.open = c.open[1:]
		if e.own {
			c.own--
		}
		c.counts.Commits++
		c.counts.CommitTime += c.now() - e.at
		tell(e.done, nil)
	}
}

// lasting returns the index up to which no append, and no snapshot, that has not begun replaces
// entries of the log. Those behind it may be another leader's than the committed ones.
func (c *core) lasting() uint64 {
	index := c.log.Last().Index
	for _, m := range c.backlog {
		if !raft.IsEmptySnap(m.GetSnapshot()) {
			return c.log.Committed()
		}
		if entries := m.GetEntries(); len(entries) > 0 {
			index = min(index, entries[0].GetIndex()-1)
		}
	}
	return index
}
