package replica

import (
	crand "crypto/rand"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"fiveways.dev/fiveways/internal/core/codec"
	"fiveways.dev/fiveways/internal/replica/level"
	"fiveways.dev/fiveways/internal/replica/timely"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// A bug is injected where a node uses its disk or its clock. The checks must find it.
type bug string

const (
	noBug             bug = ""
	answerBeforeSync  bug = "an append is answered before it is synced"
	voteNotSaved      bug = "a vote is not saved"
	acknowledgedIsCut bug = "a restart cuts an entry that was acknowledged"
	leaseTooLong      bug = "a lease outlasts an election timeout"
	readWithoutQuorum bug = "a read does not ask the quorum"
	orderTooLate      bug = "an order to stand for election arrives late"

	stateDiffers bug = "a node applies an entry in another way"

	snapshotWithoutIndex bug = "a snapshot is installed without its index"
	snapshotTruncated    bug = "a truncated snapshot is accepted"
	snapshotTooOld       bug = "a snapshot's entry is taken before its checkpoints are"
	learnerVotes         bug = "a snapshot makes voters of learners"

	levelIgnored bug = "a node takes all levels for its own"
)

const (
	simShards  = 3
	simData    = "/data"
	simStep    = 20 * time.Millisecond
	simFounder = 3 // voters at the start, unless it is 1
	simNodes   = 6 // including nodes that join
	simChunk   = 2 << 10
	simNote    = 99 // the first byte of an entry that level 1 does not know
)

func init() {
	own[simNote] = func(_ *core, r *codec.Reader, _ bool) error { return r.End() }
}

// sim is a simulated cluster and the invariants that it must keep. A seed determines every event.
type sim struct {
	bug bug
	rng *rand.Rand
	// versions chooses the installed versions. If nil, all nodes run a version of level 1.
	versions *rand.Rand
	now      time.Duration
	nodes    []*simNode // node i has id i+1
	net      []delivery
	cut      map[[2]int]bool // one-way links that deliver nothing
	ways     []*simStream    // snapshots in transit
	calm     bool            // no more faults
	orders   time.Duration   // delay of an order to campaign; 0: as for other messages
	keep     int64           // bytes of the log kept for slow nodes
	// believed returns the newest level that others believe a node supports. If nil, it is mostly
	// the real one.
	believed func(*simNode) uint64

	// Observations over all nodes.
	entries map[uint64]string // committed entries by index
	states  map[uint64]uint64 // hash of the state by index
	leaders map[uint64]int    // by term
	terms   map[uint64]uint64 // of committed entries by index
	asked   int               // ids assigned
	acked   map[int]bool      // ids whose done got nil
	refused map[int]bool      // ids reported as not in the log
	members map[uint64]string // by index, with addresses
	latest  uint64            // the highest of these indexes
	gone    map[uint64]bool   // ids up to highest that were not members at that index
	moves   int               // requested changes of addresses
	joined  int               // nodes that may be members
	arrived int               // installed snapshots
	noted   int               // entries unknown to level 1, counted per node
	wrong   error
}

// simStream is a snapshot in transit. It fails if one of the nodes is down or the link is cut.
type simStream struct {
	from, to         *simNode
	sender, receiver *core
	out              *outgoing
	in               *incoming
}

type delivery struct {
	at time.Duration
	to int
	m  *pb.Message
}

type simNode struct {
	s         *sim
	id        int
	levels    level.Range // of the installed version
	refused   error       // why a version did not start, or stopped
	mem       *vfs.Mem
	fs        *vfs.Errors
	st        *store.Store
	core      *core // nil while the node is down
	engine    *engine
	peers     map[uint64]string // the members that it was told
	events    []func(*core)
	nextTick  time.Duration
	upAt      time.Duration
	stalled   time.Duration // the disk hangs until then
	full      time.Duration // the state cannot be written until then
	restored  func()
	restoreAt time.Duration
	prepareAt time.Duration // when a requested snapshot is opened; 0: none
	oldEntry  uint64        // the entry applied when it was requested
	doomed    bool          // it will crash next
}

// engine is the machine of a node: a hash for each shard, and what its leader has applied ahead of
// the commit.
type engine struct {
	n     *simNode
	at    uint64 // index of the last entry in committed
	last  [simShards]uint64
	hash  [simShards]uint64
	have  [simShards][]int  // ids
	ahead [simShards]uint64 // shard indexes assigned by the current leadership
	sums  [simShards]uint64 // hashes at these indexes
	ids   map[int]bool      // ids that the engine knows, committed or ahead
	mine  map[int]bool      // those of the current leadership
	log   *Log
}

func (s *sim) fail(format string, args ...any) {
	if s.wrong == nil {
		s.wrong = fmt.Errorf("at %v: "+format, append([]any{s.now}, args...)...)
	}
}

func newSim(seed uint64, b bug) *sim {
	s := &sim{
		bug: b, rng: rand.New(rand.NewPCG(seed, 1)), cut: map[[2]int]bool{},
		entries: map[uint64]string{}, states: map[uint64]uint64{}, leaders: map[uint64]int{}, terms: map[uint64]uint64{},
		acked: map[int]bool{}, refused: map[int]bool{}, members: map[uint64]string{}, gone: map[uint64]bool{}, joined: simFounder,
	}
	if seed%4 == 0 {
		s.joined = 1
	}
	if seed%2 == 0 {
		s.versions = rand.New(rand.NewPCG(seed, 2))
	}
	s.keep = []int64{0, 8 << 10, 32 << 10}[seed%3]
	for i := range simNodes {
		n := &simNode{s: s, id: i + 1, mem: vfs.NewMem(), levels: s.version()}
		st := Joining(1, uint64(n.id), testAddresses(simNodes))
		if n.id <= s.joined {
			st = FoundingWith(1, uint64(n.id), testAddresses(s.joined))
		}
		err := store.FoundReplica(n.mem, simData, st)
		if err != nil {
			panic(err)
		}
		s.nodes = append(s.nodes, n)
		n.start()
	}
	return s
}

func (n *simNode) start() {
	s := n.s
	n.fs = vfs.NewErrors(n.mem)
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	var err error
	n.st, err = store.Open(n.fs, simData, store.Options{SegmentBytes: 4 << 10, LazySync: time.Hour, Logger: quiet})
	if err != nil {
		s.fail("node %d does not open: %v", n.id, err)
		return
	}
	log := n.st.Raft()
	if s.bug == acknowledgedIsCut && log.Last().Index > log.Committed() {
		if err := log.Rewind(log.Last().Index); err != nil {
			s.fail("cut: %v", err)
			return
		}
	}
	n.engine = &engine{n: n}
	n.doomed = false
	n.events, n.restored, n.stalled, n.full, n.prepareAt = nil, nil, 0, 0, 0
	n.engine.restore()
	out := effects{
		send: func(ms []*pb.Message) { s.send(n, ms) },
		append: func(e store.RaftEntry, done func(error)) {
			if isNote(&e) && n.levels.Newest == 1 {
				s.fail("the log of node %d, at level 1, gets entry %d", n.id, e.Index)
			}
			log.AppendInline(e, done)
		},
		save: func(st store.RaftState) error {
			if s.now < n.full {
				return store.ErrNoSpace
			}
			return log.Save(st)
		},
		later:  func(fn func(*core)) { n.events = append(n.events, fn) },
		submit: func(p proposal) { n.events = append(n.events, func(c *core) { c.submit(p) }) },
		prepare: func() {
			n.prepareAt, n.oldEntry = s.now+s.some(500*time.Millisecond), n.core.applied
		},
		stream:  func(m *pb.Message, sn *store.RaftSnapshot) { s.stream(n, m, sn) },
		members: func(addresses map[uint64]string, _ uint64) { n.peers = addresses },
		newest:  func(node uint64) uint64 { return s.newest(n, s.nodes[node-1]) },
	}
	levels := n.levels
	switch s.bug {
	case answerBeforeSync:
		out.append = func(e store.RaftEntry, done func(error)) {
			log.AppendInline(e, func(error) {})
			done(nil)
		}
	case voteNotSaved:
		out.save = func(st store.RaftState) error {
			st.Vote = 0
			return log.Save(st)
		}
	case levelIgnored:
		levels = twoLevels
	}
	c, err := newCore(n.st, n.engine, levels, func() time.Duration { return s.now }, out, quiet)
	if errors.Is(err, level.ErrUnsupported) {
		n.st.Close()
		n.upgrade(err)
		return
	}
	if err != nil {
		s.fail("node %d does not start: %v", n.id, err)
		return
	}
	c.keep = s.keep
	n.core = c
	n.nextTick = s.now + time.Duration(s.rng.Int64N(int64(TickInterval)))
	synctest.Wait()
	c.work()
	n.work()
}

// version returns a random one of the two versions.
func (s *sim) version() level.Range {
	if s.versions != nil && s.versions.IntN(2) == 0 {
		return twoLevels
	}
	return oneLevel
}

// upgrade installs a version that can continue where the current one cannot.
func (n *simNode) upgrade(why error) {
	n.refused, n.levels = why, twoLevels
	n.upAt = n.s.now + time.Second
}

// newest returns the newest level that a node believes another one supports. It may be outdated.
func (s *sim) newest(n, of *simNode) uint64 {
	switch {
	case s.believed != nil:
		return s.believed(of)
	case !s.calm && s.versions != nil && s.versions.IntN(50) == 0:
		return twoLevels.Newest
	case of.core == nil || s.cut[[2]int{of.id, n.id}]:
		return 0
	}
	return of.levels.Newest
}

func isNote(e *store.RaftEntry) bool { return len(e.Data) > 0 && e.Data[0] == simNote }

// prepare opens the requested snapshot.
func (n *simNode) prepare() {
	n.prepareAt = 0
	n.core.event(func(c *core) {
		c.prepared(c.log.Snapshot(func() (last uint64, err error) {
			err = errNotNow // what the simulated store holds up, this goroutine cannot wait for
			c.snapshotEntry(func(index uint64, reason error) { last, err = index, reason })
			c.snap.opening = nil
			if n.s.bug == snapshotTooOld {
				last = n.oldEntry
			}
			return last, err
		}))
	})
}

// stream starts sending a snapshot.
func (s *sim) stream(from *simNode, m *pb.Message, sn *store.RaftSnapshot) {
	to := s.nodes[m.GetTo()-1]
	w := &simStream{from: from, to: to, sender: from.core, receiver: to.core, out: newOutgoing(m, sn, simChunk)}
	if to.core != nil {
		w.in = &incoming{from: uint64(from.id), self: uint64(to.id), levels: to.core.levels, log: to.core.log}
	}
	s.ways = append(s.ways, w)
}

// flow advances the snapshots in transit.
func (s *sim) flow() {
	ways := s.ways
	s.ways = nil
	for _, w := range ways {
		if done, err := w.some(s); done || err != nil {
			w.end(s, err)
		} else {
			s.ways = append(s.ways, w)
		}
	}
}

// some transfers some chunks.
func (w *simStream) some(s *sim) (done bool, err error) {
	for range 1 + s.rng.IntN(8) {
		gone := w.from.core != w.sender || w.to.core != w.receiver || w.receiver == nil
		if gone || s.cut[[2]int{w.from.id, w.to.id}] || s.cut[[2]int{w.to.id, w.from.id}] {
			return false, io.ErrUnexpectedEOF
		}
		chunk, err := w.out.next()
		if err != nil {
			return err == io.EOF, err
		}
		chunk = slices.Clone(chunk)
		if !s.calm {
			switch s.rng.IntN(1200) {
			case 0:
				return s.bug == snapshotTruncated, io.ErrUnexpectedEOF
			case 1:
				chunk[s.rng.IntN(len(chunk))] ^= 1
			case 2:
				continue
			case 3:
				w.to.powerCut()
			case 4:
				w.from.powerCut()
			}
		}
		if err := w.in.take(chunk); err != nil {
			return false, err
		}
		if w.in.ended {
			return true, nil
		}
	}
	return false, nil
}

// end passes the received data to the receiver, and tells the sender the outcome.
func (w *simStream) end(s *sim, err error) {
	whole := w.in != nil && w.in.ended
	truncated := s.bug == snapshotTruncated && errors.Is(err, io.ErrUnexpectedEOF) && w.in != nil && w.in.m != nil
	switch {
	case w.to.core != w.receiver:
		// The received data is removed when the node restarts.
	case whole || truncated:
		err = w.arrive(s, truncated)
	case w.in != nil:
		w.in.drop()
	}
	w.out.sn.Close()
	if w.from.core == w.sender {
		w.sender.event(func(c *core) { c.sent(uint64(w.to.id), err) })
		w.sender.work()
		w.from.work()
	}
}

func (w *simStream) arrive(s *sim, truncated bool) error {
	conf := w.in.members.ConfState
	if s.bug == learnerVotes {
		conf.Voters, conf.Learners = append(slices.Clone(conf.GetVoters()), conf.GetLearners()...), nil
	}
	if !s.calm && s.rng.IntN(8) == 0 {
		w.to.powerCut()
	}
	var err error
	switch {
	case truncated:
		err = w.in.staged.Seal(w.in.state())
	case s.bug == snapshotWithoutIndex:
		st := w.in.log.State()
		err = w.in.staged.Seal(st)
	default:
		err = w.in.verify()
	}
	if err != nil {
		w.in.drop()
		return err
	}
	w.receiver.event(func(c *core) { err = c.received(w.in.m, w.in.staged) })
	w.to.work()
	if errors.Is(err, ErrInstalled) {
		s.arrived++
		return nil
	}
	return err
}

// powerCut schedules a power failure within the next disk operations.
func (n *simNode) powerCut() {
	if n.core != nil {
		n.fs.CrashAt(n.fs.Count() + 1 + n.s.rng.IntN(25))
	}
}

// crash crashes a node with the loss of unsynced data.
func (n *simNode) crash(downFor time.Duration) {
	s := n.s
	if n.core == nil {
		return
	}
	clone := n.mem.CrashClone(s.rng)
	n.fs.CrashAt(n.fs.Count() + 1)
	n.st.Close() // the lost instance
	n.mem, n.core, n.engine = clone, nil, nil
	n.upAt = s.now + downFor
}

// work handles the pending events of a node.
func (n *simNode) work() {
	for n.core != nil && len(n.events) > 0 {
		events := n.events
		n.events = nil
		for _, fn := range events {
			n.core.event(fn)
		}
		n.core.work()
	}
	synctest.Wait() // let the store's goroutine sleep: it must not run on its own
}

func (s *sim) send(from *simNode, ms []*pb.Message) {
	for _, m := range ms {
		to := int(m.GetTo())
		if to < 1 || to > len(s.nodes) {
			s.fail("a message for node %d", to)
			return
		}
		if s.cut[[2]int{from.id, to}] || !s.calm && (s.rng.IntN(50) == 0 || s.mishap(from, m)) {
			continue
		}
		delay := time.Duration(1+s.rng.IntN(15)) * time.Millisecond
		if !s.calm && s.rng.IntN(60) == 0 {
			delay += time.Duration(s.rng.IntN(1200)) * time.Millisecond
		}
		if timely.Is(m) {
			if !s.calm && s.rng.IntN(2) == 0 {
				delay += s.some(4 * time.Second)
			}
			if s.orders != 0 && m.GetType() == pb.MsgTimeoutNow {
				delay = s.orders
			}
			if delay > timely.Within && s.bug != orderTooLate {
				continue
			}
		}
		s.net = append(s.net, delivery{s.now + delay, to, m})
		if !s.calm && s.rng.IntN(100) == 0 {
			s.net = append(s.net, delivery{s.now + 2*delay, to, proto.Clone(m).(*pb.Message)})
		}
	}
}

// deliver delivers the messages that are due.
func (s *sim) deliver() {
	var due []delivery
	s.net = slices.DeleteFunc(s.net, func(d delivery) bool {
		if d.at > s.now {
			return false
		}
		due = append(due, d)
		return true
	})
	slices.SortStableFunc(due, func(a, b delivery) int { return int(a.at - b.at) })
	for _, d := range due {
		if n := s.nodes[d.to-1]; n.core != nil {
			n.core.step(d.m)
			n.core.work()
			n.work()
		}
	}
}

// step advances the time by simStep.
func (s *sim) step() {
	s.now += simStep
	for _, n := range s.nodes {
		if n.core == nil && s.now >= n.upAt {
			n.start()
		}
	}
	s.deliver()
	s.flow()
	for _, n := range s.nodes {
		n.pass()
	}
	if !s.calm {
		s.fault()
	}
	s.checkLeaders()
	s.checkCommitted()
}

// pass performs a node's own activity in a step.
func (n *simNode) pass() {
	s := n.s
	if n.core == nil {
		return
	}
	if n.fs.Crashed() || n.doomed { // in an operation that nothing waits for
		n.crash(s.some(time.Second))
		return
	}
	if n.restored != nil && s.now >= n.restoreAt {
		done := n.restored
		n.restored = nil
		n.engine.restore()
		done()
	}
	if n.prepareAt != 0 && s.now >= n.prepareAt {
		n.prepare()
		n.core.work()
	}
	if s.now >= n.nextTick {
		n.nextTick += TickInterval + time.Duration(s.rng.IntN(7)-3)*time.Millisecond
		n.core.tick()
		n.core.work()
		synctest.Wait()
	}
	if n.engine.log != nil {
		for range s.rng.IntN(3) {
			n.engine.propose()
		}
	}
	n.work()
	if s.now >= n.stalled && s.rng.IntN(4) > 0 {
		n.st.Commit()
		n.work()
	}
	if errors.Is(n.core.failed, ErrInstalled) {
		n.st.Close() // the previous instance
		n.core, n.engine = nil, nil
		n.start()
		return
	}
	if err := n.core.failed; errors.Is(err, level.ErrUnsupported) {
		n.crash(0)
		n.upgrade(err)
	} else if err != nil {
		if !errors.Is(err, store.ErrFailed) && !n.fs.Crashed() {
			s.fail("node %d: %v", n.id, err)
		}
		n.crash(time.Second)
	}
}

func (s *sim) some(max time.Duration) time.Duration { return time.Duration(s.rng.Int64N(int64(max))) }

// fault occasionally injects a fault.
func (s *sim) fault() {
	n := s.nodes[s.rng.IntN(s.joined)]
	switch s.rng.IntN(500) {
	case 0, 1, 2, 3:
		n.crash(s.some(2 * time.Second))
	case 4:
		for _, n := range s.nodes {
			n.crash(s.some(time.Second))
		}
	case 5, 6:
		if leader := s.leader(); leader != nil {
			s.isolate(leader)
		}
	case 7, 8:
		for _, other := range s.nodes {
			if other != n && s.rng.IntN(3) > 0 {
				s.cut[[2]int{n.id, other.id}] = true
			}
			if other != n && s.rng.IntN(3) > 0 {
				s.cut[[2]int{other.id, n.id}] = true
			}
		}
	case 9, 10, 11, 12:
		clear(s.cut)
	case 15, 16:
		n.stalled = s.now + s.some(5*time.Second)
	case 17:
		n.full = s.now + s.some(time.Second)
	case 18:
		n.fs.FailSync(errors.New("the disk is broken"))
	case 19, 20, 34, 35, 36, 37:
		if leader := s.leader(); leader != nil {
			leader.core.transferTo(uint64(n.id))
			leader.core.work()
		}
	case 21, 22, 23:
		s.changeMembers()
	case 24, 25, 26, 27:
		if n.core != nil && n.restored == nil {
			n.engine.checkpoint()
		}
	case 28, 29, 30, 31:
		n.clean()
	case 32, 33:
		n.powerCut()
	case 38, 39:
		if s.versions != nil {
			n.install(s.version())
		}
	}
}

// mishap disturbs elections: it loses messages, which it reports, crashes a node that has just
// voted, and keeps the winner from announcing its leadership.
func (s *sim) mishap(from *simNode, m *pb.Message) (lost bool) {
	switch m.GetType() {
	case pb.MsgVote:
		return s.rng.IntN(4) == 0
	case pb.MsgVoteResp:
		if !m.GetReject() && s.rng.IntN(6) == 0 {
			from.doomed = true
			for _, other := range s.nodes {
				s.cut[[2]int{int(m.GetTo()), other.id}] = true
			}
		}
	}
	return false
}

func (s *sim) isolate(n *simNode) {
	for _, other := range s.nodes {
		s.cut[[2]int{n.id, other.id}], s.cut[[2]int{other.id, n.id}] = true, true
	}
}

func (s *sim) leader() *simNode {
	for _, n := range s.nodes {
		if n.core != nil && n.engine.log != nil && n.core.leadTerm != 0 {
			return n
		}
	}
	return nil
}

// changeMembers makes a node join, move to another address, or leave permanently.
func (s *sim) changeMembers() {
	n := s.leader()
	if n == nil {
		return
	}
	c := n.core
	voters := c.disk.members.GetVoters()
	switch next := int(c.disk.members.highest) + 1; {
	case next <= simNodes && s.rng.IntN(2) == 0:
		s.joined = max(s.joined, next)
		c.add(uint64(next), testAddress(next), func(error) {})
	case len(voters) > simFounder && s.rng.IntN(4) > 0: // remove only where nodes are added
		c.remove(voters[s.rng.IntN(len(voters))], func(error) {})
	default: // another address; no effect for a node that has left
		s.moves++
		c.add(uint64(1+s.rng.IntN(s.joined)), fmt.Sprintf("moved%d:7000", s.moves), func(error) {})
	}
	c.work()
}

// clean removes data that is no longer needed.
func (n *simNode) clean() {
	if n.core == nil || n.restored != nil {
		return
	}
	if err := n.st.Forget(); err != nil && !errors.Is(err, store.ErrFailed) && !n.fs.Crashed() {
		n.crash(time.Second)
	}
}

// checkLeaders checks that a term has at most one leader, and that at most one node holds a lease.
func (s *sim) checkLeaders() {
	speaking := 0
	for _, n := range s.nodes {
		if n.core == nil || n.core.leadTerm == 0 {
			continue
		}
		if other, ok := s.leaders[n.core.leadTerm]; ok && other != n.id {
			s.fail("nodes %d and %d lead in term %d", other, n.id, n.core.leadTerm)
		}
		s.leaders[n.core.leadTerm] = n.id
		if log := n.engine.log; log != nil && n.leads(log) {
			speaking++
		}
	}
	if speaking > 1 {
		s.fail("%d nodes hold a lease", speaking)
	}
}

// checkCommitted checks that all nodes take the same entries for committed.
func (s *sim) checkCommitted() {
	for _, n := range s.nodes {
		if n.core == nil {
			continue
		}
		index := n.core.log.Committed()
		term, err := n.core.log.Term(index)
		if err != nil {
			continue
		}
		if other, ok := s.terms[index]; ok && other != term {
			s.fail("node %d takes entry %d of term %d for committed, another that of term %d", n.id, index, term, other)
		}
		s.terms[index] = term
	}
}

func (n *simNode) leads(log *Log) bool {
	if n.s.bug == leaseTooLong {
		if lease := log.lease.Load(); lease != 0 {
			return int64(n.s.now) < lease+int64(3*time.Second)
		}
	}
	return log.Leads()
}

func (e *engine) Apply(entry store.RaftEntry, own bool) {
	s := e.n.s
	text := fmt.Sprint(entry.Term, entry.Type, entry.Data)
	for _, b := range entry.Batch {
		text += fmt.Sprintf(" %d/%d %s", b.Shard, b.Index, b.Data)
	}
	if known, ok := s.entries[entry.Index]; ok && known != text {
		s.fail("node %d has entry %d as %q, another one as %q", e.n.id, entry.Index, text, known)
	}
	s.entries[entry.Index] = text
	if entry.Index <= e.at {
		return // the state was restored
	}
	if entry.Index != e.at+1 {
		s.fail("node %d: entry %d after %d", e.n.id, entry.Index, e.at)
	}
	e.at = entry.Index
	if isNote(&entry) {
		s.noted++
		if e.n.levels.Newest == 1 {
			s.fail("node %d, at level 1, is told of entry %d", e.n.id, e.at)
		}
	}
	s.checkMembers(e.n, entry.Index)
	for _, b := range entry.Batch {
		e.take(b.Shard, b.Index, b.Data)
		if !own && e.log != nil {
			s.fail("node %d leads and is told of the entry %d of another", e.n.id, entry.Index)
		}
	}
	e.compare()
}

// checkMembers checks that all nodes know the same members after the same entry, and that no id is
// reused.
func (s *sim) checkMembers(n *simNode, index uint64) {
	m := n.core.disk.members
	text := fmt.Sprint(m.GetVoters(), m.GetVotersOutgoing(), m.GetLearners(), m.addresses, m.highest, m.level)
	if known, ok := s.members[index]; ok && known != text {
		s.fail("node %d has members %s after entry %d, another one %s", n.id, text, index, known)
	}
	s.members[index] = text
	if index <= s.latest {
		return
	}
	s.latest = index
	for id := uint64(1); id <= m.highest; id++ {
		_, member := m.addresses[id]
		if member && s.gone[id] {
			s.fail("node %d is a member after entry %d, and was not before", id, index)
		}
		s.gone[id] = !member
	}
}

// take applies a shard's entry.
func (e *engine) take(shard uint32, index uint64, data []byte) {
	if index != e.last[shard]+1 {
		e.n.s.fail("node %d: entry %d of shard %d after %d", e.n.id, index, shard, e.last[shard])
	}
	e.last[shard] = index
	e.hash[shard] = mix(e.hash[shard], index, data)
	if e.n.s.bug == stateDiffers && e.n.id == 2 && index == 20 {
		e.hash[shard]++
	}
	e.have[shard] = append(e.have[shard], idOf(data))
	e.ids[idOf(data)] = true
}

func mix(hash, index uint64, data []byte) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %d %s", hash, index, data)
	return h.Sum64()
}

// Sum returns the hash of a shard. ok is false if the given entry is not the last one of the shard.
func (e *engine) Sum(shard uint32, place [2]uint64) (uint64, bool) {
	return e.hash[shard], e.last[shard] == place[0]
}

// compare checks that all nodes have the same state after the same entry.
func (e *engine) compare() {
	h := fnv.New64a()
	fmt.Fprint(h, e.last, e.hash)
	if known, ok := e.n.s.states[e.at]; ok && known != h.Sum64() && e.n.s.bug != stateDiffers {
		e.n.s.fail("node %d has another state after entry %d", e.n.id, e.at)
	}
	e.n.s.states[e.at] = h.Sum64()
}

// restore restores the committed state from the store.
func (e *engine) restore() {
	e.at, e.ids, e.log = e.n.st.Raft().ReplayEnd(), map[int]bool{}, nil
	for shard := range uint32(simShards) {
		if err := e.load(shard); err != nil {
			e.n.s.fail("node %d: restore: %v", e.n.id, err)
		}
	}
	e.compare()
}

// load restores the state of a shard.
func (e *engine) load(shard uint32) error {
	st := e.n.st
	e.last[shard], e.hash[shard], e.have[shard] = 0, 0, nil
	r, last, err := st.Checkpoint(shard)
	if err != nil {
		return err
	}
	if r != nil {
		defer r.Close()
		e.last[shard] = last
		if _, err := fmt.Fscan(r, &e.hash[shard]); err != nil {
			return err
		}
		for id := 0; ; {
			if _, err := fmt.Fscan(r, &id); err != nil {
				break
			}
			e.have[shard] = append(e.have[shard], id)
			e.ids[id] = true
		}
	}
	return st.Replay(shard, last, func(index uint64, _ uint32, fact []byte) error {
		e.take(shard, index, prefixed(fact))
		return nil
	})
}

// checkpoint writes a checkpoint of a shard, which must not be ahead of the commit.
func (e *engine) checkpoint() {
	shard := uint32(e.n.s.rng.IntN(simShards))
	if e.n.st.State().Health != store.Healthy || e.last[shard] == 0 {
		return
	}
	err := e.n.st.WriteCheckpoint(shard, e.last[shard], func(w io.Writer) error {
		text := fmt.Append(nil, e.hash[shard])
		for _, id := range e.have[shard] {
			text = fmt.Append(text, " ", id)
		}
		_, err := w.Write(text)
		return err
	})
	if err != nil && e.n.s.wrong == nil && e.n.st.State().Health == store.Healthy && !errors.Is(err, store.ErrFailed) {
		e.n.crash(time.Second) // a sync of the checkpoint failed
	}
}

func (e *engine) Lead(log *Log) {
	e.log, e.mine = log, map[int]bool{}
	for shard := range e.ahead {
		e.ahead[shard], e.sums[shard] = e.last[shard], e.hash[shard]
		if last := e.n.st.Last(uint32(shard)); last != e.last[shard] {
			e.n.s.fail("node %d leads with entry %d of shard %d, its log ends with %d", e.n.id, e.last[shard], shard, last)
		}
	}
}

func (e *engine) Lose(restored func()) {
	e.log = nil
	e.n.restored, e.n.restoreAt = restored, e.n.s.now+e.n.s.some(500*time.Millisecond)
}

// prefixed returns the data of an entry with one fact.
func prefixed(fact []byte) []byte { return append([]byte{byte(len(fact))}, fact...) }

func idOf(data []byte) int {
	id, err := strconv.Atoi(string(data[2:]))
	if err != nil {
		panic(err)
	}
	return id
}

// propose simulates a client request to the leader.
func (e *engine) propose() {
	s, log := e.n.s, e.log
	switch s.rng.IntN(12) {
	case 0:
		open := s.asked
		log.Barrier(nil, store.WaitSync, func(err error) {
			for id := range e.mine {
				if err == nil && id <= open && !s.acked[id] && e.log == log {
					s.fail("node %d: a barrier passed before id %d was committed", e.n.id, id)
				}
			}
		})
		return
	case 3:
		if c := e.n.core; c.disk.members.level > 1 {
			c.proposeOwn([]byte{simNote}, func(error) {})
			return
		}
	case 2:
		shard := s.rng.IntN(simShards)
		log.Check(uint32(shard), [2]uint64{e.ahead[shard]}, e.sums[shard])
		return
	case 1:
		known := make([]int, 0, len(s.acked))
		for id := range s.acked {
			known = append(known, id)
		}
		check := func(err error) {
			for _, id := range known {
				if err == nil && e.log == log && !e.ids[id] {
					s.fail("node %d: a read does not see id %d, which was acknowledged before it", e.n.id, id)
				}
			}
		}
		if s.bug == readWithoutQuorum {
			check(nil)
			return
		}
		log.ReadIndex(check)
		return
	}
	var group []store.Entry
	var ids []int
	for range 1 + s.rng.IntN(2) {
		shard := s.rng.IntN(simShards)
		s.asked++
		e.ahead[shard]++
		e.ids[s.asked], e.mine[s.asked] = true, true
		ids = append(ids, s.asked)
		data := prefixed(fmt.Appendf([]byte{1}, "%d", s.asked))
		e.sums[shard] = mix(e.sums[shard], e.ahead[shard], data)
		group = append(group, store.Entry{Shard: uint32(shard), Index: e.ahead[shard], Data: data})
	}
	log.Append(group, func(err error) {
		for _, id := range ids {
			s.acked[id] = s.acked[id] || err == nil
			if !s.acked[id] {
				delete(s.acked, id)
			}
			if errors.Is(err, ErrNotLeader) {
				s.refused[id] = true
			}
		}
	})
}

// finish ends all faults, and checks that the nodes converge to the same state, which includes
// everything that was acknowledged.
func (s *sim) finish() {
	s.calm = true
	clear(s.cut)
	for _, n := range s.nodes {
		n.stalled, n.full, n.upAt = 0, 0, s.now
		if n.fs != nil {
			n.fs.FailSync(nil)
		}
		if s.versions != nil && n.levels != twoLevels {
			n.install(twoLevels)
		}
	}
	before := len(s.acked)
	for range 2000 {
		if s.step(); s.wrong != nil {
			return
		}
		n := s.leader()
		if n == nil || len(s.acked) < before+20 {
			continue
		}
		members := n.core.disk.members
		same := s.versions == nil || members.level == twoLevels.Newest
		for _, id := range append(slices.Clone(members.GetVoters()), members.GetLearners()...) {
			m := s.nodes[id-1]
			same = same && m.core != nil && m.engine.at+20 > n.engine.at && m.knows(members.addresses)
		}
		if same {
			s.checkAcknowledged(n)
			return
		}
	}
	text := ""
	for _, n := range s.nodes[:s.joined] {
		if n.core == nil {
			text += fmt.Sprintf("\nnode %d is down", n.id)
			continue
		}
		text += fmt.Sprintf("\nnode %d: %s; log %d to %d, applied %d; members %v; snap %+v",
			n.id, n.core.raw.Status(), n.core.log.First(), n.core.log.Last().Index, n.core.applied, n.core.disk.members, n.core.snap)
	}
	s.fail("the cluster does not recover: %s", text)
}

// knows reports whether a node knows these addresses, and was told those of the other nodes.
func (n *simNode) knows(addresses map[uint64]string) bool {
	others := maps.Clone(addresses)
	delete(others, uint64(n.id))
	return maps.Equal(n.core.disk.members.addresses, addresses) && maps.Equal(n.peers, others)
}

func (s *sim) checkAcknowledged(n *simNode) {
	for id := range s.acked {
		if !n.engine.ids[id] {
			s.fail("id %d was acknowledged and is lost", id)
		}
	}
	committed := map[int]bool{}
	there := &engine{n: n, ids: committed}
	for shard := range uint32(simShards) {
		if err := there.load(shard); err != nil {
			s.fail("%v", err)
		}
	}
	for id := range s.refused {
		if committed[id] {
			s.fail("id %d was refused and is there", id)
		}
	}
}

func (s *sim) close() {
	for _, n := range s.nodes {
		if n.st != nil {
			n.st.Close() // the checks are done
		}
	}
}

// lateOrder delays a leader's order to another node to campaign. The order arrives when the leader
// has a lease again, and the leader does not hear of the election.
func lateOrder(t *testing.T, seed uint64, b bug) error {
	return inBubble(t, seed, b, func(s *sim) {
		s.calm, s.orders = true, 3500*time.Millisecond
		for s.leader() == nil && s.wrong == nil {
			s.step()
		}
		leader := s.leader()
		leader.core.transferTo(uint64(leader.id%simFounder + 1))
		leader.core.work()
		for end := s.now + s.orders; s.now < end; {
			s.step()
		}
		for _, n := range s.nodes {
			s.cut[[2]int{n.id, leader.id}] = true
		}
		for range 100 {
			s.step()
		}
	})
}

// TestLateOrder checks that two nodes never hold a lease at once because an order to campaign, or a
// vote request that results from it, was delayed: the transport drops such messages.
func TestLateOrder(t *testing.T) { findsOnly(t, lateOrder, orderTooLate) }

// cutOffLeader cuts off a leader, which notices only after the others have elected another.
func cutOffLeader(t *testing.T, seed uint64, b bug) error {
	return inBubble(t, seed, b, func(s *sim) {
		s.calm = true
		for s.leader() == nil && s.wrong == nil {
			s.step()
		}
		if s.wrong != nil {
			return
		}
		s.isolate(s.leader())
		for range 100 {
			s.step()
		}
	})
}

// TestCutOffLeader checks that a leader that is cut off loses its lease before another node leads.
func TestCutOffLeader(t *testing.T) { findsOnly(t, cutOffLeader, leaseTooLong) }

// findsOnly checks that a scenario finds a bug and nothing else.
func findsOnly(t *testing.T, scenario func(*testing.T, uint64, bug) error, b bug) {
	found := false
	for seed := uint64(1); seed <= 30; seed++ {
		if seed%4 == 0 {
			continue // it has one voter
		}
		if err := scenario(t, seed, noBug); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if err := scenario(t, seed, b); err != nil {
			t.Logf("seed %d: %v", seed, err)
			found = true
		}
	}
	if !found {
		t.Fatal("the bug is not found")
	}
}

// simulate runs a cluster for a while and returns the first violation.
func simulate(t *testing.T, seed uint64, b bug) (s *sim, err error) {
	err = inBubble(t, seed, b, func(sim *sim) {
		s = sim
		for range 1200 {
			if s.step(); s.wrong != nil {
				return
			}
		}
		s.finish()
	})
	return s, err
}

// inBubble runs fn with a cluster in which the seed determines every event.
func inBubble(t *testing.T, seed uint64, b bug, fn func(*sim)) (wrong error) {
	// The library takes its election timeouts from crypto/rand.
	defer func(r io.Reader) { crand.Reader = r }(crand.Reader)
	crand.Reader = rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16)})
	// The bubble ensures that the stores' goroutines are asleep whenever the seed decides.
	synctest.Test(t, func(*testing.T) {
		s := newSim(seed, b)
		defer s.close()
		fn(s)
		wrong = s.wrong
	})
	return wrong
}

// seeds returns the range of seeds to run: SIM_SEEDS of them, starting at SIM_FROM (1).
func seeds(t *testing.T, otherwise uint64) (from, to uint64) {
	number := func(name string, otherwise uint64) uint64 {
		text := os.Getenv(name)
		if text == "" {
			return otherwise
		}
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return n
	}
	from = number("SIM_FROM", 1)
	return from, from + number("SIM_SEEDS", otherwise)
}

func TestSimulation(t *testing.T) {
	count := uint64(300)
	if testing.Short() {
		count = 30
	}
	from, to := seeds(t, count)
	acked, terms, snapshots, notes := 0, 0, 0, 0
	for seed := from; seed < to; seed++ {
		s, err := simulate(t, seed, noBug)
		if err != nil {
			t.Fatalf("seed %d: %v (SIM_FROM=%d SIM_SEEDS=1)", seed, err, seed)
		}
		acked += len(s.acked)
		terms += len(s.leaders)
		snapshots += s.arrived
		notes += s.noted
	}
	t.Logf("%d seeds: %d acknowledged, %d leaders, %d snapshots, %d entries of level 2", to-from, acked, terms, snapshots, notes)
}

// TestPlantedBugs checks that the simulation finds each planted bug. TestLateOrder and
// TestCutOffLeader look for the others.
func TestPlantedBugs(t *testing.T) {
	for _, b := range []bug{
		answerBeforeSync, voteNotSaved, acknowledgedIsCut, readWithoutQuorum, stateDiffers,
		snapshotWithoutIndex, snapshotTruncated, snapshotTooOld, learnerVotes, levelIgnored,
	} {
		t.Run(string(b), func(t *testing.T) {
			for seed := uint64(1); seed <= 300; seed++ {
				if _, err := simulate(t, seed, b); err != nil {
					t.Logf("seed %d: %v", seed, err)
					return
				}
			}
			t.Fatal("not found")
		})
	}
}
