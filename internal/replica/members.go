package replica

import (
	"errors"
	"slices"

	"go.etcd.io/raft/v3/tracker"

	pb "go.etcd.io/raft/v3/raftpb"
)

// ErrTooFew says that a removal would leave no voter, or two, of which none may fail.
var ErrTooFew = errors.New("replica: too few voters would be left; add a node first")

// promoteWithin is how many entries a learner may be behind when it becomes a voter.
const promoteWithin = 100

// add has a node join as a learner: it gets the log, or a snapshot first, and has no vote until it
// has caught up (promote). done is called when that is committed, and at once for a member; or with
// ErrBusy, ErrNotLeader, store.ErrLost.
func (c *core) add(node uint64, done func(error)) {
	m := c.disk.members
	if c.leadTerm != 0 && (slices.Contains(m.GetVoters(), node) || slices.Contains(m.GetLearners(), node)) {
		done(nil)
		return
	}
	c.change(done, single(pb.ConfChangeAddLearnerNode, node))
}

// remove has a node leave for ever. done as for add, and ErrTooFew.
func (c *core) remove(node uint64, done func(error)) {
	voters := c.disk.members.GetVoters()
	left := len(voters) - 1
	if slices.Contains(voters, node) && (left == 0 || left == 2) {
		done(ErrTooFew)
		return
	}
	c.change(done, single(pb.ConfChangeRemoveNode, node))
}

func single(kind pb.ConfChangeType, node uint64) *pb.ConfChangeSingle {
	return &pb.ConfChangeSingle{Type: kind.Enum(), NodeId: new(node)}
}

// change proposes a change of the members, one at a time: the rules look at the members as they
// are.
func (c *core) change(done func(error), changes ...*pb.ConfChangeSingle) {
	switch {
	case c.failed != nil || c.leadTerm == 0:
		done(ErrNotLeader)
	case c.changing():
		done(ErrBusy)
	default:
		c.changes = append(c.changes, memberChange{&pb.ConfChangeV2{Changes: changes}, done})
	}
}

// changing reports whether a change of the members is not finished.
func (c *core) changing() bool {
	return len(c.changes) > 0 || len(c.disk.members.GetVotersOutgoing()) > 0 ||
		slices.ContainsFunc(c.open, func(e *openEntry) bool { return e.change })
}

// promote makes voters of learners that have caught up: one, or two of one voter, so that there are
// never two.
func (c *core) promote() {
	if len(c.disk.members.GetLearners()) == 0 || c.changing() {
		return
	}
	var ready []uint64
	for id, pr := range c.raw.Status().Progress {
		if pr.IsLearner && pr.RecentActive && pr.State == tracker.StateReplicate && pr.Match+promoteWithin >= c.commit {
			ready = append(ready, id)
		}
	}
	slices.Sort(ready)
	n := 1
	if len(c.disk.members.GetVoters()) == 1 {
		n = 2
	}
	if len(ready) < n {
		return
	}
	changes := make([]*pb.ConfChangeSingle, n)
	for i, id := range ready[:n] {
		changes[i] = single(pb.ConfChangeAddNode, id)
	}
	c.logger.Info("replica: learners have caught up and become voters", "nodes", ready[:n])
	c.change(func(error) {}, changes...)
}
