package replica

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"time"

	"go.etcd.io/raft/v3/tracker"

	pb "go.etcd.io/raft/v3/raftpb"
)

var (
	// ErrTooFew means that a removal would leave no voter, or two voters, neither of which may
	// fail.
	ErrTooFew = errors.New("replica: too few voters would be left; add a node first")
	// ErrNoMajority means that too few of the voters that a removal would leave are up and keep up
	// with the log: nothing could be committed any more, not even another removal.
	ErrNoMajority = errors.New("replica: the remaining voters that are up and keep up with the log would be no majority; remove the nodes that are down first, or add a node")
	// ErrUsed means that a node with that id was removed, or that a higher id has been assigned.
	ErrUsed = errors.New("replica: ids of nodes are never given twice; add the node with a higher one")
	// ErrAddress means that an address is not host:port.
	ErrAddress = errors.New("replica: the address of a node is not host:port")
)

// promoteWithin is the maximum number of entries that a learner may be behind to become a voter.
const promoteWithin = 100

// add adds a node as a learner. It gets the log, or a snapshot first, and has no vote until it has
// caught up (promote). For a member, add changes its address. done is called once this node has
// applied that, or at once if the member has that address already. Errors: ErrUsed, ErrAddress,
// ErrBusy, ErrNotLeader, store.ErrLost.
func (c *core) add(node uint64, address string, done func(error)) {
	c.addWith(node, address, nil, done)
}

// addWith is add that also records the ticket of a new node.
func (c *core) addWith(node uint64, address string, ticket []byte, done func(error)) {
	m := c.disk.members
	old, member := m.addresses[node]
	kind := pb.ConfChangeAddLearnerNode
	if slices.Contains(m.GetVoters(), node) {
		kind = pb.ConfChangeAddNode // it stays a voter
	}
	switch {
	case c.failed != nil || c.leadTerm == 0:
		done(ErrNotLeader)
	case !isAddress(address):
		done(fmt.Errorf("%w: %q", ErrAddress, address))
	case !member && node <= m.highest:
		done(ErrUsed)
	case member && address == old && c.leading != nil && c.applied >= c.commit: // m has all changes
		done(nil)
	default:
		c.change(done, &pb.ConfChangeV2{
			Changes: []*pb.ConfChangeSingle{single(kind, node)}, Context: append(appendAddress(nil, node, address), ticket...),
		})
	}
}

// join adds a new node as a learner, with a number that no node ever had. A node that has joined
// and asks again gets the same number. done gets the number and the addresses of the members.
// Errors: those of add, ErrTicketUsed, and level.ErrUnsupported.
func (c *core) join(address string, t Ticket, now time.Time, done func(node uint64, addresses map[uint64]string, err error)) {
	node, err := c.disk.members.admitted(t)
	if err == nil {
		err = t.Levels.Check(c.disk.members.level)
	}
	if err != nil {
		done(0, nil, err)
		return
	}
	var ticket []byte
	if node == 0 {
		node, ticket = c.disk.members.highest+1, appendTicket(nil, t, now)
	}
	c.addWith(node, address, ticket, func(err error) {
		done(node, maps.Clone(c.disk.members.addresses), err)
	})
}

// isAddress reports whether an address is host:port.
func isAddress(address string) bool {
	host, port, err := net.SplitHostPort(address)
	return err == nil && host != "" && port != "" && len(address) <= maxAddress
}

// remove removes a node permanently. done is called as for add, or with ErrTooFew or
// ErrNoMajority.
func (c *core) remove(node uint64, done func(error)) {
	voters := c.disk.members.GetVoters()
	left := len(voters) - 1
	switch {
	case !slices.Contains(voters, node):
	case left == 0 || left == 2:
		done(ErrTooFew)
		return
	case c.leadTerm != 0 && !c.suffices(slices.DeleteFunc(slices.Clone(voters), func(id uint64) bool { return id == node })):
		done(ErrNoMajority)
		return
	}
	c.change(done, &pb.ConfChangeV2{Changes: []*pb.ConfChangeSingle{single(pb.ConfChangeRemoveNode, node)}})
}

// suffices reports whether a majority of these voters is up and keeps up with the log.
func (c *core) suffices(voters []uint64) bool {
	_, behind := c.logs()
	able := 0
	for _, id := range voters {
		if id == c.self || c.now()-c.heard[id] <= electionTicks*TickInterval && behind[id] <= KeepsUpWithin {
			able++
		}
	}
	return able > len(voters)/2
}

func single(kind pb.ConfChangeType, node uint64) *pb.ConfChangeSingle {
	return &pb.ConfChangeSingle{Type: kind.Enum(), NodeId: new(node)}
}

// change proposes a membership change. Only one may be in progress, because the checks use the
// current members, and Raft refuses a change while an earlier one is not applied.
func (c *core) change(done func(error), change *pb.ConfChangeV2) {
	if c.failed != nil || c.leadTerm == 0 {
		done(ErrNotLeader)
		return
	}
	if c.changing() || c.raw.ProposeConfChange(change) != nil {
		done(ErrBusy)
		return
	}
	c.open = append(c.open, &openEntry{change: true, at: c.now(), done: []func(error){done}})
}

// changing reports whether a membership change is in progress.
func (c *core) changing() bool {
	return len(c.disk.members.GetVotersOutgoing()) > 0 ||
		slices.ContainsFunc(c.open, func(e *openEntry) bool { return e.change })
}

// promote turns learners that have caught up into voters: one, or two if there is only one voter,
// so that there are never two voters.
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
	c.change(func(err error) {
		if err == nil {
			c.logger.Info("replica: learners have caught up and become voters", "nodes", ready[:n])
		}
	}, &pb.ConfChangeV2{Changes: changes})
}

// tellMembers reports the addresses of the other members.
func (c *core) tellMembers() {
	if c.out.level != nil {
		c.out.level(c.disk.members.level)
	}
	if c.out.members == nil {
		return
	}
	others := maps.Clone(c.disk.members.addresses)
	delete(others, c.self)
	c.out.members(others, c.disk.members.highest)
}
