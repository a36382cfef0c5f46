package replica

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"fiveways.dev/fiveways/internal/replica/level"
	"fiveways.dev/fiveways/internal/storage/store"
)

const (
	// TickInterval is how often Raft's clock ticks; a heartbeat leaves with each tick.
	TickInterval   = 100 * time.Millisecond
	electionTicks  = 10 // how long a follower waits for the leader before it campaigns
	heartbeatTicks = 1
	// stuckTicks is how long a leader's disk may hang before the leader steps down.
	stuckTicks = 30

	maxMessageBytes  = 1 << 20
	maxInflight      = 256
	maxInflightBytes = 64 << 20
	maxUncommitted   = 128 << 20
	maxApplying      = 16 << 20
)

// Machine is the state that entries change, on every node. Its methods are called by the replica,
// one at a time, and must not wait for it.
type Machine interface {
	// Apply is called in order for every entry that is committed after the replica started. own
	// means that the entry belongs to the current leadership of this node, whose Log's holder has
	// already applied it. After a leadership Apply may be called with entries that Restore has
	// already applied; their indexes show that.
	Apply(e store.RaftEntry, own bool)
	// Sum returns the hash of a part of the state, for comparison with the leader's (Log.Check); ok
	// is false if the part is not at that place.
	Sum(part uint32, place [2]uint64) (sum uint64, ok bool)
	// Lead begins a leadership: all entries before it have been applied.
	Lead(log *Log)
	// Lose ends the leadership. Afterwards its pending appends get store.ErrLost. The machine
	// returns to the committed state (store.Replay, up to RaftLog.ReplayEnd) and then calls
	// restored, on any goroutine; until then nothing is applied, appended or truncated.
	Lose(restored func())
}

// effects are the functions by which the core acts on the outside. All but send answer with events.
type effects struct {
	send func([]*pb.Message)
	// append makes an entry durable and then calls stable, in the order of the calls.
	append func(e store.RaftEntry, done func(error))
	save   func(store.RaftState) error
	// later makes the core's goroutine handle an event; submit does so with a proposal.
	later  func(func(*core))
	submit func(proposal)
	// prepare opens a snapshot (store.RaftLog.Snapshot, with snapshotEntry on the core's goroutine)
	// and then calls prepared.
	prepare func()
	// stream sends a snapshot to the node that the message is for, closes it, and calls sent.
	stream func(m *pb.Message, sn *store.RaftSnapshot)
	// members is called with the addresses of the other nodes, and level with the level of the log.
	// Either may be nil.
	members func(others map[uint64]string, highest uint64)
	level   func(level uint64)
	// newest returns the newest level that another node supports, or 0 if that is unknown.
	newest func(node uint64) uint64
}

// core is a node of a cluster as a state machine. It must not be called concurrently.
type core struct {
	self    uint64
	st      *store.Store
	log     *store.RaftLog
	disk    *disk
	raw     *raft.RawNode
	machine Machine
	levels  level.Range // that this version supports
	out     effects
	now     func() time.Duration
	logger  *slog.Logger

	failed error // why the core has stopped
	ticks  int
	quiet  store.EntryID // end of the log at the last tick

	// Appends to the log, in the order of Raft's messages: those that have begun, and those that
	// wait for the state to be written or the machine to be restored.
	begun   []begunAppend
	backlog []*pb.Message

	// Committed entries that are not applied yet.
	applies  []*pb.Message
	restores bool // the machine is returning to the committed state
	applied  uint64
	commit   uint64

	// heard is when the last message of each other node came.
	heard  map[uint64]time.Duration
	silent bool // the leader is, and the log says so

	leadTerm uint64 // the term in which this node leads, or 0
	leader   uint64 // the leader, or 0 if unknown
	ends     ends   // of the log of this leadership
	leading  *Log   // nil until everything before leadTerm is applied
	waiting  []proposal
	filled   int          // bytes of the waiting proposals
	open     []*openEntry // proposed, in order
	own      int          // how many of them are entries of the replica itself
	reads    []read       // ascending
	readSeq  uint64
	transfer uint64 // tick of the last attempt to transfer the leadership
	given    int    // attempts since this node was last fit to lead for a while
	fit      int    // ticks since it was last unfit
	snap     snapshots
	keep     int64 // bytes of the log that are kept for a slow follower
	holds    map[uint64]hold
	sparing  bool // an entry of spare has been proposed

	counts Counts
}

func newCore(st *store.Store, m Machine, levels level.Range, now func() time.Duration, out effects, logger *slog.Logger) (*core, error) {
	log := st.Raft()
	if log == nil {
		return nil, errors.New("replica: the store is that of a single node")
	}
	state := log.State()
	c := &core{
		self: state.Node, st: st, log: log, machine: m, levels: levels, out: out, now: now, logger: logger,
		heard: map[uint64]time.Duration{}, applied: log.Committed(), commit: log.Committed(), keep: defaultKeep,
	}
	if c.out.save == nil {
		c.out.save = log.Save
	}
	members, changes, err := changesSince(log, levels)
	if err != nil {
		return nil, err
	}
	c.disk = &disk{log: log, members: members, snapshot: c.takeSnapshot}
	c.raw, err = raft.NewRawNode(&raft.Config{
		ID:                        c.self,
		ElectionTick:              electionTicks,
		HeartbeatTick:             heartbeatTicks,
		Storage:                   c.disk,
		Applied:                   c.applied,
		AsyncStorageWrites:        true,
		MaxSizePerMsg:             maxMessageBytes,
		MaxCommittedSizePerReady:  maxApplying,
		MaxUncommittedEntriesSize: maxUncommitted,
		MaxInflightMsgs:           maxInflight,
		MaxInflightBytes:          maxInflightBytes,
		CheckQuorum:               true,
		PreVote:                   true,
		DisableProposalForwarding: true, // a leader applies its own proposals; no other node can
		StepDownOnRemoval:         true,
		Logger:                    raftLogger{logger},
	})
	if err != nil {
		return nil, fmt.Errorf("replica: %w", err)
	}
	for _, e := range changes {
		if e.GetIndex() > c.commit {
			break
		}
		if err := c.applyChange(e); err != nil {
			return nil, err
		}
	}
	c.tellMembers()
	return c, nil
}

// work does everything that Raft asks for. The caller calls it after events.
func (c *core) work() {
	defer c.guard()
	for c.failed == nil {
		c.propose(false)
		if !c.raw.HasReady() {
			break
		}
		c.handle(c.raw.Ready())
	}
	c.openSnapshot()
	if c.failed == nil {
		c.prepareSnapshot()
	}
}

// guard stops the node if the library gives up: an entry could not be read, or other nodes report
// that this node has lost entries.
func (c *core) guard() {
	switch p := recover().(type) {
	case nil:
	case raftPanic:
		c.fail(fmt.Errorf("replica: raft: %s", string(p)))
	case runtime.Error:
		panic(p)
	case error: // from a read: the library panics with disk's error
		c.fail(fmt.Errorf("replica: %w", p))
	default:
		panic(p)
	}
}

// event handles a deferred event.
func (c *core) event(fn func(*core)) {
	defer c.guard()
	fn(c)
}

func (c *core) fail(err error) {
	if c.failed != nil {
		return
	}
	c.failed = err
	if !errors.Is(err, ErrStopped) && !errors.Is(err, ErrInstalled) {
		c.logger.Error("replica: stopped", "err", err)
	}
	if c.leadTerm != 0 {
		c.lose()
	}
}

func (c *core) tick() {
	if c.failed != nil {
		return
	}
	defer c.guard()
	c.ticks++
	if st := c.st.State(); st.Health == store.Failed { // for failures that no append reports
		c.fail(st.Err)
		return
	}
	c.persist() // retry what a full disk prevented
	if end := c.log.Last(); end != c.quiet {
		c.quiet = end
	} else {
		c.log.Mark()
	}
	c.noteFitness()
	switch {
	case c.fit > 0:
		c.raw.Tick()
	case c.leadTerm != 0:
		c.raw.Tick()
		c.giveAway()
	default: // not ready to campaign
	}
	if c.leadTerm != 0 {
		for _, duty := range duties {
			duty(c)
		}
		c.ends.tick(c.log.Last().Index)
	}
	c.reportSnapshots()
	c.dropSnapshot()
	c.noteSilence()
}

// duties are the periodic tasks of a leader, run at every tick.
var duties = []func(*core){func(c *core) { c.ask(nil) }, (*core).promote, (*core).raise, (*core).spare}

// step handles a message from another node.
func (c *core) step(m *pb.Message) {
	if c.failed != nil {
		return
	}
	defer c.guard()
	c.heard[m.GetFrom()] = c.now()
	if m.GetType() == pb.MsgSnap {
		return // such a message arrives with its snapshot (received)
	}
	if t := m.GetType(); c.ticks <= electionTicks && (t == pb.MsgVote || t == pb.MsgPreVote) {
		return // just before its restart this node may have acknowledged a leader
	}
	if err := c.raw.Step(m); err != nil && !errors.Is(err, raft.ErrProposalDropped) {
		c.logger.Debug("replica: message refused", "from", m.GetFrom(), "type", m.GetType(), "err", err)
	}
}

// follow records the leader, or 0 if there is none, and logs a change. The node's own leadership is
// logged when it starts to serve.
func (c *core) follow(leader, term uint64) {
	switch {
	case leader == c.leader:
	case leader == 0:
		c.logger.Warn("replica: no node leads until one is elected", "before", c.leader, "term", term)
	case leader != c.self:
		c.logger.Info("replica: another node leads", "node", leader, "term", term)
	}
	c.leader = leader
}

// handle processes a Ready of Raft.
func (c *core) handle(rd raft.Ready) {
	status := c.raw.BasicStatus()
	leads := status.RaftState == raft.StateLeader
	c.follow(status.Lead, status.GetTerm())
	if c.leadTerm != 0 && (!leads || status.GetTerm() != c.leadTerm) {
		c.lose()
	}
	if leads && c.leadTerm == 0 {
		c.leadTerm = status.GetTerm()
		c.ends.begin(c.log.Last().Index)
	}
	for _, e := range rd.Entries {
		c.placed(e)
	}
	if rd.HardState != nil {
		c.commit = max(c.commit, rd.HardState.GetCommit())
	}
	for _, rs := range rd.ReadStates {
		c.answered(rs.RequestCtx)
	}
	var out []*pb.Message
	for _, m := range rd.Messages {
		switch m.GetTo() {
		case raft.LocalAppendThread:
			c.backlog = append(c.backlog, m)
		case raft.LocalApplyThread:
			c.applies = append(c.applies, m)
		default:
			if m.GetType() == pb.MsgSnap {
				c.sendSnapshot(m)
			} else {
				out = append(out, m)
			}
		}
	}
	if len(out) > 0 {
		c.out.send(out)
	}
	c.persist()
	c.apply()
}

func tell(done []func(error), err error) {
	for _, fn := range done {
		fn(err)
	}
}

// apply passes committed entries to the machine.
func (c *core) apply() {
	for len(c.applies) > 0 && !c.restores && c.failed == nil {
		m := c.applies[0]
		c.applies = c.applies[1:]
		for _, e := range m.GetEntries() {
			if err := c.applyEntry(e); err != nil {
				c.fail(err)
				return
			}
		}
		c.respond(m)
		c.committed()
	}
}

func (c *core) applyEntry(e *pb.Entry) error {
	se, err := toStore(e)
	if err != nil {
		return err
	}
	if e.GetType() != pb.EntryNormal {
		if err := c.applyChange(e); err != nil {
			return err
		}
		c.tellMembers()
	}
	if isOwn(se.Data) && e.GetType() == pb.EntryNormal {
		if err := c.applyOwn(&se, c.leading != nil && se.Term == c.leading.term); err != nil {
			return err
		}
	}
	c.machine.Apply(se, c.leading != nil && se.Term == c.leading.term)
	c.applied = se.Index
	if c.leadTerm != 0 && c.leading == nil && se.Term == c.leadTerm {
		c.beginLeading()
	}
	return nil
}

// beginLeading starts a leadership.
func (c *core) beginLeading() {
	c.leading = newLog(c.leadTerm, c.st, c.now, c.out.submit)
	c.log.Lead(true)
	c.counts.Leaderships++
	c.machine.Lead(c.leading)
	c.ask(nil)
}

// applyChange applies the membership change in a committed entry.
func (c *core) applyChange(e *pb.Entry) error {
	change, err := decodeChange(e)
	if err != nil {
		return err
	}
	members, err := c.disk.members.after(c.raw.ApplyConfChange(change), change.AsV2())
	if err != nil {
		return fmt.Errorf("entry %d: %w", e.GetIndex(), err)
	}
	if members.removed(c.self) && !c.disk.members.removed(c.self) {
		c.logger.Warn("replica: this node was removed from the cluster, and serves no clients; stop it")
	}
	c.disk.members, c.applied = members, e.GetIndex()
	if err := c.saveMembers(); err != nil && !errors.Is(err, store.ErrNoSpace) {
		return err
	}
	return nil // also without disk space: a restart takes the change from the log
}

func (c *core) saveMembers() error {
	st := c.log.State()
	st.Members, st.MembersAt = c.disk.members.encode(nil), c.applied
	return c.log.Save(st)
}

// lose ends this node's leadership.
func (c *core) lose() {
	c.leadTerm, c.holds = 0, nil
	c.snap.failed = nil
	c.dropSnapshot()
	if c.leading != nil {
		c.leading.end()
		c.leading = nil
		c.log.Lead(false) // the machine may wait for a commit, and the commit for the machine
		c.restores = true
		c.machine.Lose(func() { c.out.later((*core).restored) })
	}
	open, waiting, reads := c.open, c.waiting, c.reads
	c.open, c.waiting, c.reads, c.own, c.filled = nil, nil, nil, 0, 0
	for _, e := range open {
		tell(e.done, store.ErrLost)
	}
	for _, p := range waiting {
		p.done(store.ErrLost)
	}
	for _, r := range reads {
		tell(r.done, store.ErrLost)
	}
}

func (c *core) restored() {
	c.restores = false
	c.persist()
	c.apply()
}
