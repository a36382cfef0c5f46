package replica

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"slices"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"

	"fiveways.dev/fiveways/internal/core/codec"
	"fiveways.dev/fiveways/internal/replica/level"
	"fiveways.dev/fiveways/internal/storage/store"
)

var (
	// ErrInstalled means that a snapshot has replaced the content of the store. Close the store,
	// open it again, and start a replica on it.
	ErrInstalled = errors.New("replica: a snapshot was installed; the store is to be opened again")

	errNotNow   = errors.New("replica: no snapshot can be taken at this moment")
	errNotTaken = errors.New("replica: the snapshot is not needed any more")
	errBadChunk = errors.New("replica: snapshot: malformed chunk")
)

// A snapshot is sent in chunks: Raft's message that announces it, the name and the bytes of each
// file, and the end. Each chunk begins with a CRC-32C over its number and its content, so that a
// missing, changed or misplaced chunk is detected.
const (
	chunkMessage = iota
	chunkFile
	chunkBytes
	chunkEnd
)

const (
	chunkHeader = 5 // sum, kind
	// maxChunk bounds the payload of a chunk.
	maxChunk = 256 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func chunkSum(number uint32, chunk []byte) uint32 {
	sum := crc32.Checksum(binary.LittleEndian.AppendUint32(nil, number), castagnoli)
	return crc32.Update(sum, castagnoli, chunk)
}

// outgoing turns a snapshot into chunks.
type outgoing struct {
	m      *pb.Message
	sn     *store.RaftSnapshot
	size   int // of a full chunk's payload
	number uint32
	files  int // files begun
	bytes  io.Reader
	ended  bool
	buf    []byte
}

func newOutgoing(m *pb.Message, sn *store.RaftSnapshot, size int) *outgoing {
	return &outgoing{m: m, sn: sn, size: size}
}

// next returns the next chunk, which is valid until the following call. It returns io.EOF after the
// last chunk.
func (o *outgoing) next() ([]byte, error) {
	o.buf = append(o.buf[:0], 0, 0, 0, 0, chunkBytes)
	var err error
	switch {
	case o.ended:
		return nil, io.EOF
	case o.number == 0:
		o.buf[4] = chunkMessage
		if o.buf, err = (proto.MarshalOptions{}).MarshalAppend(o.buf, o.m); err != nil {
			return nil, err
		}
	case o.bytes != nil:
		if err := o.fill(); err != nil {
			return nil, err
		}
	}
	if o.number > 0 && len(o.buf) == chunkHeader {
		o.nextFile()
	}
	binary.LittleEndian.PutUint32(o.buf, chunkSum(o.number, o.buf[4:]))
	o.number++
	return o.buf, nil
}

func (o *outgoing) fill() error {
	at := len(o.buf)
	o.buf = append(o.buf, make([]byte, o.size)...)
	n, err := io.ReadFull(o.bytes, o.buf[at:])
	o.buf = o.buf[:at+n]
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

func (o *outgoing) nextFile() {
	if o.files == len(o.sn.Files) {
		o.buf[4], o.ended = chunkEnd, true
		return
	}
	f := &o.sn.Files[o.files]
	o.files++
	o.buf[4], o.bytes = chunkFile, f.Reader()
	o.buf = append(o.buf, f.Name...)
}

// incoming writes the chunks of a snapshot into the store's directory, next to the current content.
type incoming struct {
	from, self uint64
	levels     level.Range // that this version supports
	log        *store.RaftLog
	number     uint32
	m          *pb.Message
	first      store.EntryID
	members    *membership
	staged     *store.Staged // nil until the first chunk has arrived
	ended      bool
}

// take handles the next chunk. After an error the caller must call drop.
func (in *incoming) take(chunk []byte) error {
	if len(chunk) < chunkHeader || in.ended {
		return errBadChunk
	}
	if binary.LittleEndian.Uint32(chunk) != chunkSum(in.number, chunk[4:]) {
		return fmt.Errorf("%w: the sum of chunk %d differs", errBadChunk, in.number)
	}
	kind, payload := chunk[4], chunk[chunkHeader:]
	if (kind == chunkMessage) != (in.number == 0) {
		return fmt.Errorf("%w: kind %d as chunk %d", errBadChunk, kind, in.number)
	}
	in.number++
	switch kind {
	case chunkMessage:
		return in.begin(payload)
	case chunkFile:
		return in.staged.Create(string(payload))
	case chunkBytes:
		_, err := in.staged.Write(payload)
		return err
	case chunkEnd:
		in.ended = true
		return nil
	}
	return fmt.Errorf("%w: kind %d", errBadChunk, kind)
}

func (in *incoming) begin(payload []byte) (err error) {
	in.m = &pb.Message{}
	if err := proto.Unmarshal(payload, in.m); err != nil {
		return fmt.Errorf("%w: %w", errBadChunk, err)
	}
	id := in.m.GetSnapshot().GetMetadata()
	r := codec.NewReader(in.m.GetSnapshot().GetData())
	in.first = store.EntryID{Index: r.Uvarint(), Term: r.Uvarint()}
	if in.members, err = decodeMembership(r.Rest(), in.levels); err == nil {
		err = in.members.Equivalent(id.GetConfState())
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errBadChunk, err)
	}
	if in.m.GetType() != pb.MsgSnap || in.m.GetFrom() != in.from || in.m.GetTo() != in.self || id.GetIndex() < in.first.Index {
		return fmt.Errorf("%w: from node %d to node %d", errBadChunk, in.m.GetFrom(), in.m.GetTo())
	}
	in.staged, err = in.log.Stage()
	return err
}

// state returns the replica's state after the installation of the snapshot. Install adds the latest
// term.
func (in *incoming) state() store.RaftState {
	id := in.m.GetSnapshot().GetMetadata()
	st := in.log.State()
	st.First, st.Commit, st.MembersAt, st.Members = in.first, id.GetIndex(), id.GetIndex(), in.members.encode(nil)
	st.Term = max(st.Term, id.GetTerm())
	return st
}

// verify checks that the snapshot is complete.
func (in *incoming) verify() error {
	if !in.ended {
		return io.ErrUnexpectedEOF
	}
	if err := in.staged.Seal(in.state()); err != nil {
		return err
	}
	return in.staged.Verify()
}

// drop discards the received data.
func (in *incoming) drop() {
	if in.staged != nil {
		in.staged.Drop()
	}
}

// snapshots is the snapshot state of the core: at most one is being sent to another node, and at
// most one has been received.
type snapshots struct {
	wanted    bool // Raft has asked for one
	preparing bool
	opening   *opening
	pinned    uint64 // last entry of the snapshot that is prepared or sent: later entries are kept
	members   *membership
	ready     *store.RaftSnapshot // prepared, not requested yet
	since     int                 // tick at which it became ready
	given     *store.RaftSnapshot // Raft has it in a message
	sending   bool
	failed    map[uint64]failure // by node to which the last one was sent

	staged *store.Staged // received and passed to Raft
}

// failure is what became of the snapshots that were sent to a node.
type failure struct {
	times    int // in a row
	reportAt int // the tick at which Raft is told, and may ask for another one; 0: it was told
}

// opening is a snapshot of which only the checkpoints are open.
type opening struct {
	floor uint64 // the checkpoints may include entries up to this one
	since int    // tick
	done  func(last uint64, err error)
}

// prepareSnapshot starts preparing a snapshot if Raft has asked for one.
func (c *core) prepareSnapshot() {
	s := &c.snap
	if s.wanted && !s.preparing && !s.sending && s.ready == nil && s.given == nil {
		s.preparing = true
		c.out.prepare()
	}
	s.wanted = false
}

// snapshotEntry calls done with the last entry of a snapshot whose checkpoints are open. It waits
// until that entry is written and applied here, for which a quorum of quicker disks does not wait.
func (c *core) snapshotEntry(done func(last uint64, err error)) {
	c.snap.opening = &opening{floor: c.log.Committed(), since: c.ticks, done: done}
	c.openSnapshot()
}

// openSnapshot answers snapshotEntry as soon as it can.
func (c *core) openSnapshot() {
	s := &c.snap
	o, last, err := s.opening, c.applied, c.failed
	if o == nil {
		return
	}
	switch {
	case err != nil:
	case last >= o.floor && c.log.ReplayEnd() >= last:
		s.pinned, s.members = last, c.disk.members
	case c.leadTerm != 0 && c.ticks < o.since+electionTicks:
		return
	default:
		err = errNotNow
	}
	s.opening = nil
	o.done(last, err)
}

// prepared stores a prepared snapshot for the next node that needs one.
func (c *core) prepared(sn *store.RaftSnapshot, err error) {
	s := &c.snap
	s.preparing = false
	switch {
	case err != nil:
		s.pinned = 0
		if !errors.Is(err, errNotNow) {
			c.logger.Error("replica: no snapshot can be made", "err", err)
		}
	case c.failed != nil || c.leadTerm == 0:
		s.pinned = 0
		sn.Close()
	default:
		s.ready, s.since = sn, c.ticks
	}
}

// takeSnapshot returns the snapshot for Raft, which it sends to another node.
func (c *core) takeSnapshot() (*pb.Snapshot, error) {
	s := &c.snap
	if s.ready == nil {
		s.wanted = true
		return nil, raft.ErrSnapshotTemporarilyUnavailable
	}
	s.given, s.ready = s.ready, nil
	id, first := s.given.ID, s.given.First
	return &pb.Snapshot{
		Data:     s.members.encode(codec.AppendUvarints(nil, first.Index, first.Term)),
		Metadata: &pb.SnapshotMetadata{ConfState: s.members.ConfState, Index: new(id.Index), Term: new(id.Term)},
	}, nil
}

// sendSnapshot sends a snapshot to the node that a message of Raft names.
func (c *core) sendSnapshot(m *pb.Message) {
	s := &c.snap
	if s.given == nil {
		c.raw.ReportSnapshot(m.GetTo(), raft.SnapshotFailure)
		return
	}
	sn := s.given
	s.given, s.sending = nil, true
	c.logger.Info("replica: sending a snapshot", "to", m.GetTo(), "entry", sn.ID.Index)
	c.out.stream(m, sn)
}

// sent handles the outcome of sending a snapshot.
func (c *core) sent(to uint64, err error) {
	last := c.snap.pinned
	c.snap.sending, c.snap.pinned = false, 0
	if c.failed != nil {
		return
	}
	if err == nil {
		c.counts.SnapshotsSent++
		delete(c.snap.failed, to)
		if c.leadTerm != 0 {
			c.hold(to, last)
		}
		c.raw.ReportSnapshot(to, raft.SnapshotFinish)
		return
	}
	c.counts.SnapshotsFailed++
	c.logger.Warn("replica: a snapshot did not arrive", "to", to, "err", err)
	if c.leadTerm == 0 {
		return
	}
	f := c.snap.failed[to]
	f.reportAt = c.ticks + int(backoff(f.times))
	f.times++
	if c.snap.failed == nil {
		c.snap.failed = map[uint64]failure{}
	}
	c.snap.failed[to] = f
}

// reportSnapshots tells Raft that snapshots have failed. It waits with that, longer after each
// failure, because Raft asks for another one at once.
func (c *core) reportSnapshots() {
	for _, to := range slices.Sorted(maps.Keys(c.snap.failed)) {
		if f := c.snap.failed[to]; f.reportAt != 0 && c.ticks >= f.reportAt {
			f.reportAt = 0
			c.snap.failed[to] = f
			c.raw.ReportSnapshot(to, raft.SnapshotFailure)
		}
	}
}

// dropSnapshot closes a snapshot that no node has requested in time. It does so at once if the
// leadership is over.
func (c *core) dropSnapshot() {
	s := &c.snap
	if s.ready != nil && (c.leadTerm == 0 || c.ticks > s.since+electionTicks) {
		s.ready.Close()
		s.ready, s.pinned = nil, 0
	}
}

// received handles a verified snapshot from another node. Success is reported as ErrInstalled;
// otherwise the snapshot is discarded.
func (c *core) received(m *pb.Message, staged *store.Staged) error {
	if c.failed != nil || c.snap.staged != nil {
		staged.Drop()
		return errNotTaken
	}
	c.snap.staged = staged
	if err := c.raw.Step(m); err != nil {
		c.logger.Debug("replica: snapshot refused", "from", m.GetFrom(), "err", err)
	}
	c.work()
	if errors.Is(c.failed, ErrInstalled) {
		return ErrInstalled
	}
	if !c.snapshotWaits() {
		staged.Drop()
		c.snap.staged = nil
	}
	return errNotTaken
}

// snapshotWaits reports whether Raft has accepted a snapshot that cannot be installed because the
// disk is full.
func (c *core) snapshotWaits() bool {
	return slices.ContainsFunc(c.backlog, func(m *pb.Message) bool { return !raft.IsEmptySnap(m.GetSnapshot()) })
}

// install replaces the content of the store by a snapshot that Raft has accepted. This ends the
// core.
func (c *core) install(m *pb.Message) error {
	if c.snap.staged == nil {
		return errors.New("replica: a snapshot was taken that is not there")
	}
	if err := c.snap.staged.Install(m.GetTerm(), m.GetVote()); err != nil {
		return err
	}
	return ErrInstalled
}
