package store

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"fiveways.dev/fiveways/internal/storage/wal"
)

var (
	// ErrRewound means that an entry was cut from the replicated log before it was committed.
	ErrRewound = errors.New("store: the entry was cut from the replicated log")
	// ErrNoSpace means that the durable Raft state could not be written, as in the state NoSpace.
	// The caller may retry.
	ErrNoSpace = errors.New("store: no space for the state of the replica")
)

// RaftLog is the log of a replica: its entries have the order and the terms that Raft gives them,
// and an uncommitted suffix may be cut. The store's guarantees for durable entries (cleaning,
// checkpoints, replay) apply to committed ones here.
//
// One goroutine calls Append, Rewind, Commit, Compact and Save, and also Entries and Term for
// uncommitted entries.
type RaftLog struct {
	s *Store

	saving  sync.Mutex  // held while state is written
	staging atomic.Bool // a snapshot is being received

	// Guarded by Store.mu.
	state     RaftState
	committed uint64 // highest index known to be committed
	// settled is Store.appended after the last committed group appended since Open.
	settled uint64
	// tail holds the entries after committed, ascending and without gaps.
	tail  []tailEntry
	terms []EntryID // the first entry of each term, ascending, from index known on
	known uint64    // terms covers the entries from this index on
	marks int64     // offset after the last mark, in the last segment
	waits []commitWait
	grows sync.Cond         // with Store.mu: an entry was appended, or none will be (lost, closed)
	lost  bool              // a leadership has ended and no other has begun: nothing waits for a commit
	ends  map[uint32]uint64 // of Replay during a restore, by shard; nil: there is none
}

// tailEntry is an entry that may still be cut.
type tailEntry struct {
	seq    uint64 // Store.appended after it; 0 if found at Open
	refs   int64  // its references that count (RaftEntry.Applied)
	shards []shardRange
}

// shardRange is the range of a shard's entries in an entry of the replicated log.
type shardRange struct {
	shard       uint32
	first, last uint64
}

// commitWait receives nil when the entry is committed, or an error if it never will be.
type commitWait struct {
	index uint64
	done  chan error
}

// RaftEntry is an entry of the replicated log, either for shards or for Raft itself.
type RaftEntry struct {
	EntryID
	Type  uint8   // Raft's number for the type of the entry
	Batch []Entry // entries of shards, in order; Wait and Written are ignored
	Data  []byte  // the data of an entry without a batch
	// Applied means that the caller has applied the entry, so its references count at once. Those
	// of other entries count when they are applied (Store.Retain).
	Applied bool
}

// raftOp holds the fields of an op that only a replica needs.
type raftOp struct {
	term    uint64
	applied bool
	mark    bool
	rewind  uint64 // index of the first entry to cut
}

// Raft returns the replicated log of the store, or nil for a single node, which uses Append.
func (s *Store) Raft() *RaftLog { return s.raft }

// State returns the last saved state.
func (r *RaftLog) State() RaftState {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return r.state
}

// Save makes a state durable. It ignores st.Commit and st.First and uses the log's own. If it
// returns ErrNoSpace the caller may retry. After any other error it is unknown which state is on
// the disk, and the store has failed.
func (r *RaftLog) Save(st RaftState) error {
	return r.save(func(state *RaftState) {
		st.First = state.First
		*state = st
	})
}

// Refound turns the directory into that of a node of another cluster: everything in the log counts
// as committed, and no replica needs the log. st.Members are those after its last entry. It returns
// the errors of Save.
func (r *RaftLog) Refound(st RaftState) error {
	last := r.Last()
	r.Commit(last.Index)
	return r.save(func(state *RaftState) {
		st.First, st.MembersAt, st.Term, st.Vote = last, last.Index, max(state.Term, last.Term), 0
		*state = st
	})
}

func (r *RaftLog) save(change func(*RaftState)) error {
	r.saving.Lock()
	defer r.saving.Unlock()
	s := r.s
	s.mu.Lock()
	// Committed entries need not be durable here yet, and the log must never end before the saved
	// commit.
	st, committed, closed, failed := r.state, min(r.committed, s.shard(wal.RaftShard).durable), s.closed, s.state
	s.mu.Unlock()
	if closed {
		return ErrClosed
	}
	if failed.Health == Failed {
		return failed.Err
	}
	change(&st)
	st.Commit = committed
	switch err := writeRaftState(s.fs, s.dir, &st); {
	case isFull(err):
		return fmt.Errorf("%w: %w", ErrNoSpace, err)
	case err != nil:
		err = fmt.Errorf("%w: %w", ErrFailed, err)
		s.setState(State{Health: Failed, Err: err})
		return err
	}
	s.mu.Lock()
	r.state = st
	s.mu.Unlock()
	return nil
}

// Append adds an entry after the last one, in one write. It does not wait. done is called on the
// writing goroutine once the entry is durable on this node, in the order of the calls, or with an
// error of Store.Append.
func (r *RaftLog) Append(e RaftEntry, done func(error)) { r.append(e, done, true) }

// AppendInline is Append for a caller that calls Store.Commit soon.
func (r *RaftLog) AppendInline(e RaftEntry, done func(error)) { r.append(e, done, false) }

func (r *RaftLog) append(e RaftEntry, done func(error), wake bool) {
	s := r.s
	s.mu.Lock()
	commit, failed := r.committed, s.state
	if last := r.lastTerm(); e.Term < last {
		panic(fmt.Sprintf("store: entry %d of term %d after one of term %d", e.Index, e.Term, last))
	}
	s.mu.Unlock()
	if failed.Health == Failed {
		done(failed.Err)
		return
	}
	group := make([]Entry, 0, 1+len(e.Batch))
	head := wal.RaftHead{Type: e.Type, Commit: commit, Data: e.Data}
	group = append(group, Entry{Shard: wal.RaftShard, Index: e.Index, Data: wal.AppendRaftHead(nil, head)})
	group = append(group, e.Batch...)
	o := newOp(group, done)
	o.wait, o.raft = WaitSync, &raftOp{term: e.Term, applied: e.Applied}
	s.enqueue(o, wake, func(seq uint64) {
		r.tail = append(r.tail, tailEntry{seq: seq, refs: appliedRefs(&e), shards: shardRanges(e.Batch)})
		r.noteTerm(e.EntryID)
		r.grows.Broadcast()
	})
}

func appliedRefs(e *RaftEntry) (n int64) {
	if e.Applied {
		for i := range e.Batch {
			n += int64(e.Batch[i].Refs)
		}
	}
	return n
}

// Restore calls fn, which restores the state. Meanwhile Replay and ReplayEnd end for all shards
// with the same entry of the log, whatever is written and committed. All counted references are
// forgotten: fn counts those that the state holds.
func (r *RaftLog) Restore(fn func() error) error {
	s := r.s
	s.mu.Lock()
	for _, seg := range s.segments {
		seg.live, seg.dead = 0, 0
	}
	for i := range r.tail {
		r.tail[i].refs = 0
	}
	ends := map[uint32]uint64{}
	for id := range s.shards {
		ends[id] = s.replayEnd(id)
	}
	r.ends = ends
	s.mu.Unlock()
	err := fn()
	s.mu.Lock()
	defer s.mu.Unlock()
	r.ends = nil
	return err
}

func shardRanges(batch []Entry) (out []shardRange) {
	for i := range batch {
		e := &batch[i]
		at := slices.IndexFunc(out, func(sr shardRange) bool { return sr.shard == e.Shard })
		if at < 0 {
			out = append(out, shardRange{shard: e.Shard, first: e.Index, last: e.Index})
		} else {
			out[at].last = e.Index
		}
	}
	return out
}

// noteTerm records the term of an entry after all others. Called with mu held.
func (r *RaftLog) noteTerm(id EntryID) {
	if r.known == 0 {
		r.known = id.Index
	}
	if n := len(r.terms); n == 0 || r.terms[n-1].Term != id.Term {
		r.terms = append(r.terms, id)
	}
}

// lastTerm is called with mu held.
func (r *RaftLog) lastTerm() uint64 {
	if n := len(r.terms); n > 0 {
		return r.terms[n-1].Term
	}
	return r.state.First.Term
}

// Commit records that the entries up to index, all of them appended, will never be cut.
func (r *RaftLog) Commit(index uint64) {
	s := r.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := s.shard(wal.RaftShard).last; index > last {
		panic(fmt.Sprintf("store: commit of entry %d, the log ends at %d", index, last))
	}
	for ; r.committed < index; r.committed++ {
		e := &r.tail[0]
		for _, sr := range e.shards {
			s.shard(sr.shard).committed = sr.last
		}
		r.settled = max(r.settled, e.seq)
		r.tail = r.tail[1:]
	}
	s.shard(wal.RaftShard).committed = r.committed
	r.tellWaits(func(w commitWait) bool { return w.index <= r.committed }, nil)
}

// tellWaits is called with mu held.
func (r *RaftLog) tellWaits(which func(commitWait) bool, err error) {
	r.waits = slices.DeleteFunc(r.waits, func(w commitWait) bool {
		if !which(w) {
			return false
		}
		w.done <- err
		return true
	})
}

// tellAll ends all waits with err. Called with mu held.
func (r *RaftLog) tellAll(err error) {
	r.tellWaits(func(commitWait) bool { return true }, err)
	r.grows.Broadcast()
}

// Lead records that a leadership of this node begins or ends. At its end everything that waits for
// a commit (WriteCheckpoint, Rewrite) gets ErrLost, and so does any wait until the next one begins:
// those entries may be committed or cut, and nothing on this node knows when.
func (r *RaftLog) Lead(begins bool) {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if r.lost = !begins; r.lost {
		r.tellAll(ErrLost)
	}
}

// Committed returns the highest index known to be committed.
func (r *RaftLog) Committed() uint64 {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return r.committed
}

// ReplayEnd returns the index up to which Store.Replay goes now: committed and written here.
func (r *RaftLog) ReplayEnd() uint64 { return r.s.ReplayEnd(wal.RaftShard) }

// First returns the first index that the log is sure to hold, which may be that of the next entry.
func (r *RaftLog) First() uint64 {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return r.state.First.Index + 1
}

// Last returns the last appended entry.
func (r *RaftLog) Last() EntryID {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	return EntryID{r.s.shard(wal.RaftShard).last, r.lastTerm()}
}

// Term returns the term of an entry from First()-1 to the last one. It returns ErrNotFound, or an
// error of the file.
func (r *RaftLog) Term(index uint64) (uint64, error) {
	s := r.s
	s.mu.Lock()
	switch {
	case index == r.state.First.Index:
		defer s.mu.Unlock()
		return r.state.First.Term, nil
	case index < r.state.First.Index || index > s.shard(wal.RaftShard).last:
		defer s.mu.Unlock()
		return 0, fmt.Errorf("%w: entry %d of the replicated log", ErrNotFound, index)
	case r.known != 0 && index >= r.known:
		defer s.mu.Unlock()
		i := sort.Search(len(r.terms), func(i int) bool { return r.terms[i].Index > index })
		return r.terms[i-1].Term, nil
	}
	s.mu.Unlock()
	e, _, err := r.cursor(index, false).next()
	return e.Term, err
}

// Entries returns the entries from lo up to, not including, hi: at least one, otherwise up to
// maxBytes in total. They must be written. It returns ErrNotFound below First, ErrNotWritten, or an
// error of the file. The bytes stay valid forever.
func (r *RaftLog) Entries(lo, hi uint64, maxBytes int64) (out []RaftEntry, err error) {
	if first := r.First(); lo < first {
		return nil, fmt.Errorf("%w: entry %d of the replicated log, which begins at %d", ErrNotFound, lo, first)
	}
	c := r.cursor(lo, true)
	for size := int64(0); c.index < hi; {
		e, n, err := c.next()
		if err != nil {
			return nil, err
		}
		if size += n; size > maxBytes && len(out) > 0 {
			break
		}
		out = append(out, e)
	}
	return out, nil
}

// Special returns the entries after an index, up to last, whose type is not 0: membership changes.
// They must be written.
func (r *RaftLog) Special(after, last uint64) (out []RaftEntry, err error) {
	c := r.cursor(max(after+1, r.First()), false)
	for c.index <= last {
		e, _, err := c.next()
		if err != nil {
			return nil, err
		}
		if e.Type != 0 {
			out = append(out, e)
		}
	}
	return out, nil
}

// Compact records that no replica needs the entries up to index, which are committed: cleaning may
// take those that checkpoints cover. It returns the errors of Save.
func (r *RaftLog) Compact(index uint64) error {
	if index < r.First() {
		return nil
	}
	if committed := r.Committed(); index > committed {
		panic(fmt.Sprintf("store: compact up to entry %d, committed is %d", index, committed))
	}
	term, err := r.Term(index)
	if err != nil {
		return err
	}
	if err := r.save(func(st *RaftState) { st.First = EntryID{index, term} }); err != nil {
		return err
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	r.s.shard(wal.RaftShard).checkpoint = index
	return nil
}

// Spare returns the last entry of the log that need not be kept for nodes that need the entries
// after low. It is the end of a sealed segment, because cleaning removes whole segments. Entries
// more than most bytes before the end are not kept in any case. The result may be uncommitted, or
// already gone.
func (r *RaftLog) Spare(low uint64, most int64) uint64 {
	s := r.s
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := int64(0)
	for _, seg := range slices.Backward(s.segments) {
		kept += seg.bytes
		if e := seg.index[wal.RaftShard]; e != nil && seg.sealed && (e.Last <= low || kept > most) {
			return e.Last
		}
	}
	return 0
}

// Mark writes a frame that records how much of the log is durable, unless the log ends with such a
// frame or with data that is not durable yet. After it, damage to the last frames acknowledged to
// other nodes no longer looks like a torn end. Call it when the log has been idle for a moment:
// every other frame records the same.
func (r *RaftLog) Mark() {
	s := r.s
	s.mu.Lock()
	seg := s.segments[len(s.segments)-1]
	o := op{seg: seg, size: wal.FrameHeaderSize, raft: &raftOp{mark: true}}
	if s.closed || seg.sealed || r.marks == seg.planned || seg.planned == wal.SegmentHeaderSize ||
		seg.planned+o.size > s.opts.SegmentBytes || s.durable < s.appended || s.state.Health != Healthy {
		s.mu.Unlock()
		return
	}
	seg.planned += o.size
	o.end, r.marks = seg.planned, seg.planned
	s.appended++
	o.seq = s.appended
	s.bytes += o.size
	s.push(o, false)
	s.Commit()
}

// addMark writes the frame of Mark.
func (c *committer) addMark(o *raftOp) {
	if o.mark && c.failed == nil {
		h := wal.Header{Kind: wal.KindMark, Shard: wal.RaftShard, Synced: uint32(c.synced)}
		c.buf = wal.AppendHeader(c.buf, c.seg.img.salt, &h, nil)
	}
}

// awaitAppended returns once an entry of a shard is in the log, because a leader applies entries
// before they are appended. It returns ErrLost or ErrClosed.
func (r *RaftLog) awaitAppended(shard uint32, index uint64) error {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	for r.s.shard(shard).last < index {
		switch {
		case r.s.closed:
			return ErrClosed
		case r.lost:
			return ErrLost
		}
		r.grows.Wait()
	}
	return nil
}

// awaitCommitted returns once the Raft entry that holds a shard's entry is committed; on a single
// node at once. It returns ErrRewound, also if the entry was cut before the call, ErrLost or
// ErrClosed.
func (s *Store) awaitCommitted(shard uint32, index uint64) error {
	if s.raft == nil {
		return nil
	}
	r := s.raft
	s.mu.Lock()
	at := r.committed
	if index > s.shard(shard).committed {
		i := slices.IndexFunc(r.tail, func(e tailEntry) bool {
			return slices.ContainsFunc(e.shards, func(sr shardRange) bool { return sr.shard == shard && sr.last >= index })
		})
		if i < 0 {
			s.mu.Unlock()
			return ErrRewound
		}
		at += uint64(i) + 1
	}
	return r.await(at)
}

// awaitSettled returns once everything appended is durable, and in a replica also committed.
func (s *Store) awaitSettled() error {
	if err := s.SyncNow(); err != nil || s.raft == nil {
		return err
	}
	s.mu.Lock()
	return s.raft.await(s.shard(wal.RaftShard).last)
}

// await waits for the commit of an entry. It releases mu, which the caller holds.
func (r *RaftLog) await(index uint64) error {
	w := commitWait{index: index, done: make(chan error, 1)}
	switch {
	case r.committed >= index:
		w.done <- nil
	case r.s.closed:
		w.done <- ErrClosed
	case r.lost:
		w.done <- ErrLost
	default:
		r.waits = append(r.waits, w)
	}
	r.s.mu.Unlock()
	return <-w.done
}

// settledGroups returns the number of groups that neither a crash nor another leader can undo.
// Called with mu held.
func (s *Store) settledGroups() uint64 {
	if s.raft != nil {
		return min(s.durable, s.raft.settled)
	}
	return s.durable
}
