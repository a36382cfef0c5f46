package replica

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"time"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"go.etcd.io/raft/v3/tracker"

	"fiveways.dev/fiveways/internal/replica/level"
	"fiveways.dev/fiveways/internal/storage/store"
)

// maxMessages bounds the messages that wait for the replica. More are lost, as they may be on the
// way.
const maxMessages = 4096

// Options say what a replica is made of.
type Options struct {
	Store   *store.Store // of a replica (store.FoundReplica), open
	Machine Machine      // in the state of what is committed in Store
	// Send takes messages for other nodes. It does not wait, and it may lose some. The messages
	// must not be changed.
	Send func([]*pb.Message)
	// Dial opens a connection to a node that has it read by Receive: a snapshot goes over it.
	Dial func(ctx context.Context, node uint64) (net.Conn, error)
	// Members is told where the other members are, host:port, before Start returns and after each
	// change; on a node that has not joined yet, where those are that it may hear from. highest is
	// the highest number that this node knows of. It does not wait, and it may keep the map. nil:
	// not told.
	Members func(addresses map[uint64]string, highest uint64)
	// Level is told the level of the log, when Members is. nil: not told.
	Level func(level uint64)
	// Newest returns the newest level that another node supports, by what it says while it is
	// connected; 0: not known. It does not wait. nil: of none is anything known.
	Newest func(node uint64) uint64
	// SnapshotRate is how many bytes of a snapshot may leave in a second; 0: 200 MB.
	SnapshotRate int64
	// KeepLog is how many bytes of the log all replicas keep, at most, for one that is up and
	// behind; 0: 1 GiB. Beyond that it gets a snapshot.
	KeepLog int64
	Logger  *slog.Logger // nil: slog.Default()
}

// Replica is a running node of a cluster. Its goroutine is the only one that touches the core.
type Replica struct {
	o       Options
	self    uint64
	start   time.Time
	ctx     context.Context // until it has stopped
	cancel  context.CancelFunc
	wake    chan struct{} // capacity 1: there is something in the mailbox
	stop    chan struct{} // closed by Close
	stopped chan struct{} // closed by the goroutine at its end

	mu     sync.Mutex
	box    mailbox
	closed bool // nothing is taken any more
	status Status
	err    error

	receivers sync.WaitGroup // snapshots that are coming; added to with mu held
	receiving *reception     // guarded by mu: the one that has begun last
}

// mailbox is what others have for the goroutine.
type mailbox struct {
	messages  []*pb.Message
	events    []func(*core)
	proposals []proposal
}

// Status is what a replica knows of itself and its cluster.
type Status struct {
	Node, Leader uint64 // Leader is 0 when it knows none
	Term         uint64
	Last         uint64 // index of the last entry in the log
	Committed    uint64
	Applied      uint64
	// Voters are those of which a majority is needed; in the middle of a change, those of before.
	Voters   []uint64
	Learners []uint64
	// Addresses are host:port of all members, or of those that a node which has not joined yet may
	// hear from. The map must not be changed.
	Addresses map[uint64]string
	Highest   uint64 // the highest id that ever was a member's: those up to it are not given again
	Level     uint64 // of the log: what kinds of entries it may have
	// Match is how far the log of each node is known to be the same; on the leader only.
	Match map[uint64]uint64
	Counts
}

// Counts are of what a replica has done since it started.
type Counts struct {
	Leaderships     uint64        // that began
	Commits         uint64        // of entries that it proposed as leader
	CommitTime      time.Duration // these took in all, from the proposal to the commit
	SnapshotsSent   uint64        // and installed there
	SnapshotsFailed uint64        // that were sent, and did not arrive or were not taken
}

// Start starts a replica. It belongs to no cluster but that of the store, and speaks when it is
// spoken to, or when it has not heard of a leader for a while.
func Start(o Options) (*Replica, error) {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.SnapshotRate == 0 {
		o.SnapshotRate = 200e6
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

// Close stops the replica; the store stays open. A leader stops without a word: Transfer comes
// first where there is time. What is open gets store.ErrLost, and what comes later ErrStopped. It
// may be called again.
func (r *Replica) Close() {
	r.mu.Lock()
	if !r.closed {
		r.closed = true
		close(r.stop)
	}
	r.mu.Unlock()
	<-r.stopped
}

// Done is closed when the replica has stopped, by itself or by Close.
func (r *Replica) Done() <-chan struct{} { return r.stopped }

// Err says why it has stopped: ErrStopped after Close, nil while it runs.
func (r *Replica) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Step takes a message from another node. It does not wait.
func (r *Replica) Step(m *pb.Message) {
	r.put(func(b *mailbox) {
		if len(b.messages) < maxMessages {
			b.messages = append(b.messages, m)
		}
	})
}

// Unreachable says that messages for a node were lost.
func (r *Replica) Unreachable(node uint64) {
	r.later(func(c *core) { c.raw.ReportUnreachable(node) })
}

// Transfer gives the lead to another node, if this one has it and the other is a voter that keeps
// up. It does not wait for that: Status tells.
func (r *Replica) Transfer(node uint64) { r.later(func(c *core) { c.transferTo(node) }) }

// Add has a node join the cluster: it gets all that the others have, and a vote once it has caught
// up. Its id is one that no member ever had: ErrUsed. A member gets another address (host:port; or
// ErrAddress) and stays what it is. done is called when the log says so, or with ErrNotLeader,
// ErrBusy, store.ErrLost or ErrStopped.
func (r *Replica) Add(node uint64, address string, done func(error)) {
	if !r.later(func(c *core) { c.add(node, address, done) }) {
		done(ErrStopped)
	}
}

// Join is Add for a new node with a ticket. done gets the number that it has from now on, which no
// other ever had, and where the members are; a node that asks again gets the same number.
// ErrTicketUsed when another node has joined with the ticket, level.ErrUnsupported when the node
// does not support the level of the log.
func (r *Replica) Join(address string, t Ticket, done func(node uint64, addresses map[uint64]string, err error)) {
	if !r.later(func(c *core) { c.join(address, t, time.Now(), done) }) {
		done(0, nil, ErrStopped)
	}
}

// Remove has a node leave the cluster for ever. done is called as for Add, or with ErrTooFew.
func (r *Replica) Remove(node uint64, done func(error)) {
	if !r.later(func(c *core) { c.remove(node, done) }) {
		done(ErrStopped)
	}
}

// Status returns how things stood a moment ago.
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
	default: // it was told already
	}
}

// run is the goroutine.
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
		if c.leadTerm != leads { // Machine.Lead may have the status looked at
			leads = c.leadTerm
			r.tell(c)
		}
	}
	r.mu.Lock()
	r.closed, r.err = true, c.failed
	r.mu.Unlock()
	r.tell(c)
	box = r.swap(box) // what is left gets its answers; nothing is put any more
	r.handle(c, &box)
}

// tell makes the status known.
func (r *Replica) tell(c *core) {
	st := c.status()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status = st
}

// swap takes what is in the mailbox and leaves an empty one.
func (r *Replica) swap(used mailbox) mailbox {
	clear(used.messages)
	clear(used.events)
	clear(used.proposals)
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.box
	r.box = mailbox{used.messages[:0], used.events[:0], used.proposals[:0]}
	return taken
}

func (r *Replica) handle(c *core, box *mailbox) {
	for _, m := range box.messages {
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
		Node: c.self, Leader: s.Lead, Term: s.GetTerm(),
		Last: c.log.Last().Index, Committed: c.commit, Applied: c.applied,
		Voters: c.disk.members.needed(), Learners: c.disk.members.GetLearners(),
		Addresses: c.disk.members.addresses, Highest: c.disk.members.highest, Level: c.disk.members.level,
		Counts: c.counts,
	}
	if c.leadTerm != 0 {
		st.Match = map[uint64]uint64{}
		c.raw.WithProgress(func(id uint64, _ raft.ProgressType, pr tracker.Progress) { st.Match[id] = pr.Match })
	}
	return st
}
