package replica

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"

	"fiveways.dev/fiveways/internal/replica/level"
	"fiveways.dev/fiveways/internal/replica/timely"
	"fiveways.dev/fiveways/internal/storage/store"
)

// maxMessages bounds the messages that wait for the replica. Further messages are dropped, as on a
// network.
const maxMessages = 4096

// Options configures a replica.
type Options struct {
	Store   *store.Store // of a replica (store.FoundReplica), open
	Machine Machine      // its state is what is committed in Store
	// Send accepts messages for other nodes. It must not block, and may drop messages. It must not
	// change them.
	Send func([]*pb.Message)
	// Dial opens a connection to a node over which to send a snapshot. The node reads it with
	// Receive.
	Dial func(ctx context.Context, node uint64) (net.Conn, error)
	// Members is called with the addresses (host:port) of the other members, before Start returns
	// and after each change. On a node that has not joined yet, it gets the addresses of the nodes
	// that may contact it. highest is the highest number that this node knows. Members must not
	// block, and may retain the map. It may be nil.
	Members func(addresses map[uint64]string, highest uint64)
	// Level is called with the level of the log, together with Members. It may be nil.
	Level func(level uint64)
	// Newest returns the newest level that another node supports, as the node reports while it is
	// connected, or 0 if unknown. It must not block. If it is nil, all levels are unknown.
	Newest func(node uint64) uint64
	// SnapshotRate is the maximum number of bytes per second sent for a snapshot; 0 means 104 MB,
	// which leaves most of a disk to the log.
	SnapshotRate int64
	// KeepLog is the maximum number of bytes of the log that all replicas keep for a live replica
	// that is behind; 0 means 1 GiB. A replica that is further behind gets a snapshot.
	KeepLog int64
	Logger  *slog.Logger // nil: slog.Default()
}

// Replica is a running node of a cluster. Only its own goroutine accesses the core.
type Replica struct {
	o       Options
	self    uint64
	start   time.Time
	ctx     context.Context // canceled when it has stopped
	cancel  context.CancelFunc
	wake    chan struct{} // capacity 1: the mailbox is not empty
	stop    chan struct{} // closed by Close
	stopped chan struct{} // closed by the goroutine at its end

	mu     sync.Mutex
	box    mailbox
	closed bool // no further input is accepted
	status Status
	err    error

	receivers sync.WaitGroup // snapshots being received; Add is called with mu held
	receiving *reception     // guarded by mu: the latest one
}

// mailbox holds the input of other goroutines for the replica's goroutine.
type mailbox struct {
	messages  []*pb.Message
	since     time.Time // when the first of them came
	events    []func(*core)
	proposals []proposal
}

// Status is the state of a replica and its cluster as the replica knows it.
type Status struct {
	Node, Leader uint64 // Leader is 0 if none is known, or if it has been silent (silentAfter)
	Removed      bool   // the node was a member, and knows that it is none any more
	Term         uint64
	Last         uint64 // index of the last entry in the log
	Committed    uint64
	Applied      uint64
	// Voters are the voters of which a majority is required; during a change, the old ones.
	Voters   []uint64
	Learners []uint64
	// Addresses are the host:port of all members, or of the nodes that may contact a node that has
	// not joined yet. The map must not be changed.
	Addresses map[uint64]string
	Highest   uint64 // the highest id that a member ever had: ids up to it are not assigned again
	Level     uint64 // of the log: what kinds of entries it may have
	// Match is the index up to which the log of each node is known to match; only on the leader.
	Match map[uint64]uint64
	// Behind is how old the oldest entry is that the log of each other node lacks, up to MaxBehind;
	// only on the leader.
	Behind map[uint64]time.Duration
	// Uncommitted is how long ago the oldest proposal was made that is not committed; 0 if there is
	// none. Only on the leader.
	Uncommitted time.Duration
	Counts
}

// Counts holds counters since the start of a replica.
type Counts struct {
	Leaderships     uint64        // leaderships that have begun
	Commits         uint64        // committed entries that it proposed as leader
	CommitTime      time.Duration // their total time from proposal to commit
	SnapshotsSent   uint64        // sent and installed
	SnapshotsFailed uint64        // sent, but lost or rejected
}

// Start starts a replica of the cluster that its store belongs to. At first it only responds to
// other nodes. It campaigns after it has not heard from a leader for a while.
func Start(o Options) (*Replica, error) {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.SnapshotRate == 0 {
		o.SnapshotRate = 104e6
	}
	if o.Newest == nil {
		o.Newest = func(uint64) uint64 { return 0 }
	}
	r := &Replica{
		o:       o,
		start:   time.Now(),
		wake:    make(chan struct{}, 1),
		stop:    make(chan struct{}),
		stopped: make(chan struct{}),
	}
	out := effects{
		send: o.Send, append: o.Store.Raft().Append, later: func(fn func(*core)) { r.later(fn) }, submit: r.submit,
		prepare: func() { go r.prepare(o.Store.Raft()) },
		stream:  func(m *pb.Message, sn *store.RaftSnapshot) { go r.stream(m, sn) },
		members: o.Members, level: o.Level, newest: o.Newest,
	}
	c, err := newCore(o.Store, o.Machine, level.Supported, func() time.Duration { return time.Since(r.start) }, out, o.Logger)
	if err != nil {
		return nil, err
	}
	if o.KeepLog != 0 {
		c.keep = o.KeepLog
	}
	r.self, r.status = c.self, c.status()
	r.ctx, r.cancel = context.WithCancel(context.Background())
	go r.run(c)
	return r, nil
}

// Close stops the replica. The store stays open. A leader stops without notice: call Transfer first
// if there is time. Pending operations get store.ErrLost, later ones ErrStopped. Close may be
// called more than once.
func (r *Replica) Close() {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		close(r.stop)
	}
	r.mu.Unlock()
	<-r.stopped
}

// Done returns a channel that is closed when the replica has stopped, by itself or by Close.
func (r *Replica) Done() <-chan struct{} { return r.stopped }

// Err returns the error with which the replica stopped. It is ErrStopped after Close, and nil while
// the replica runs.
func (r *Replica) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Step delivers a message from another node. It does not block.
func (r *Replica) Step(m *pb.Message) {
	r.put(func(b *mailbox) {
		if len(b.messages) == 0 {
			b.since = time.Now()
		}
		if len(b.messages) < maxMessages {
			b.messages = append(b.messages, m)
		}
	})
}

// Unreachable reports that messages for a node were lost.
func (r *Replica) Unreachable(node uint64) {
	r.later(func(c *core) { c.raw.ReportUnreachable(node) })
}

// Transfer transfers the leadership to another node, if this node leads and the other is a voter
// that keeps up. It does not wait for the outcome, which Status shows.
func (r *Replica) Transfer(node uint64) { r.later(func(c *core) { c.transferTo(node) }) }

// Add adds a node to the cluster. The node gets all data, and a vote once it has caught up. Its id
// must be one that no member ever had (ErrUsed). For a member, Add only changes its address
// (host:port; or ErrAddress). done is called once the change is in force, or with ErrNotLeader,
// ErrBusy, store.ErrLost or ErrStopped.
func (r *Replica) Add(node uint64, address string, done func(error)) {
	if !r.later(func(c *core) { c.add(node, address, r.shown(c, done)) }) {
		done(ErrStopped)
	}
}

// Join is like Add for a new node with a ticket. done gets the number of the node, which no other
// node ever had, and the addresses of the members. A node that asks again gets the same number.
// Errors: those of Add, ErrTicketUsed if another node has joined with the ticket,
// level.ErrUnsupported if the node does not support the level of the log.
func (r *Replica) Join(address string, t Ticket, done func(node uint64, addresses map[uint64]string, err error)) {
	if !r.later(func(c *core) {
		c.join(address, t, time.Now(), func(node uint64, addresses map[uint64]string, err error) {
			r.tell(c)
			done(node, addresses, err)
		})
	}) {
		done(0, nil, ErrStopped)
	}
}

// Remove removes a node from the cluster permanently. done is called as for Add, or with ErrTooFew
// or ErrNoMajority.
func (r *Replica) Remove(node uint64, done func(error)) {
	if !r.later(func(c *core) { c.remove(node, r.shown(c, done)) }) {
		done(ErrStopped)
	}
}

// shown returns a function that publishes the status and then calls done, so that a caller that is
// told that a change is done finds it in the status.
func (r *Replica) shown(c *core, done func(error)) func(error) {
	return func(err error) {
		r.tell(c)
		done(err)
	}
}

// Status returns a recent status. It has all changes of the members that were reported as done.
func (r *Replica) Status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status
}

func (r *Replica) later(fn func(*core)) bool {
	return r.put(func(b *mailbox) { b.events = append(b.events, fn) })
}

func (r *Replica) submit(p proposal) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		p.done(ErrStopped)
		return
	}
	r.box.proposals = append(r.box.proposals, p)
	r.mu.Unlock()
	r.signal()
}

func (r *Replica) put(into func(*mailbox)) bool {
	r.mu.Lock()
	taken := !r.closed
	if taken {
		into(&r.box)
	}
	r.mu.Unlock()
	if taken {
		r.signal()
	}
	return taken
}

func (r *Replica) signal() {
	select {
	case r.wake <- struct{}{}:
	default: // the goroutine has been woken already
	}
}

// run is the replica's goroutine.
func (r *Replica) run(c *core) {
	defer close(r.stopped)
	defer r.receivers.Wait()
	defer r.cancel()
	ticker := time.NewTicker(TickInterval)
	defer ticker.Stop()
	var box mailbox
	leads := c.leadTerm
	for c.failed == nil {
		select {
		case <-r.wake:
		case <-ticker.C:
			c.tick()
			r.tell(c)
		case <-r.stop:
			c.fail(ErrStopped)
		}
		box = r.swap(box)
		r.handle(c, &box)
		if c.leadTerm != leads { // Machine.Lead may look at the status
			leads = c.leadTerm
			r.tell(c)
		}
	}
	r.mu.Lock()
	r.closed, r.err = true, c.failed
	r.mu.Unlock()
	r.tell(c)
	box = r.swap(box) // answer the rest: nothing more is added
	r.handle(c, &box)
}

// tell publishes the status.
func (r *Replica) tell(c *core) {
	st := c.status()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = st
}

// swap returns the content of the mailbox, and puts the emptied used in its place.
func (r *Replica) swap(used mailbox) mailbox {
	clear(used.messages)
	clear(used.events)
	clear(used.proposals)
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.box
	r.box = mailbox{messages: used.messages[:0], events: used.events[:0], proposals: used.proposals[:0]}
	return taken
}

func (r *Replica) handle(c *core, box *mailbox) {
	late := len(box.messages) > 0 && time.Since(box.since) > timely.Waiting
	for _, m := range box.messages {
		if late && timely.Is(m) {
			c.logger.Warn("replica: dropped a message that came too late", "from", m.GetFrom(), "type", m.GetType())
			continue
		}
		c.step(m)
	}
	for _, fn := range box.events {
		c.event(fn)
	}
	for _, p := range box.proposals {
		c.submit(p)
	}
	c.work()
}

func (c *core) status() Status {
	s := c.raw.BasicStatus()
	st := Status{
		Node: c.self, Leader: c.knownLeader(s.Lead), Removed: c.disk.members.removed(c.self), Term: s.GetTerm(),
		Last: c.log.Last().Index, Committed: c.commit, Applied: c.applied,
		Voters: c.disk.members.needed(), Learners: c.disk.members.GetLearners(),
		Addresses: c.disk.members.addresses, Highest: c.disk.members.highest, Level: c.disk.members.level,
		Counts: c.counts,
	}
	if c.leadTerm != 0 {
		st.Match, st.Behind = c.logs()
		st.Uncommitted = c.uncommitted()
	}
	return st
}
