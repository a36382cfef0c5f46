package store

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/storage/vfs"
	"fiveways.dev/fiveways/internal/storage/wal"
)

// founding returns the state of the first node of a cluster.
func founding() RaftState {
	return RaftState{Cluster: 7, Node: 1, Term: 1, Commit: 1, First: EntryID{1, 1}, Members: []byte("me"), MembersAt: 1}
}

func mustFound(t testing.TB, fs vfs.FS) {
	t.Helper()
	if err := FoundReplica(fs, testDir, founding()); err != nil {
		t.Fatal(err)
	}
}

func replicaOptions() Options {
	return quiet(Options{SegmentBytes: 4 << 10, LazySync: time.Hour})
}

func openReplica(t testing.TB, fs vfs.FS) *Store {
	t.Helper()
	s, err := Open(fs, testDir, replicaOptions())
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	if s.Raft() == nil {
		t.Fatal("not the store of a replica")
	}
	return s
}

// raftAppend appends an entry and waits until it is durable.
func raftAppend(s *Store, e RaftEntry) error {
	done := make(chan error, 1)
	s.Raft().AppendInline(e, func(err error) { done <- err })
	s.Commit()
	return <-done
}

func mustAppend(t testing.TB, s *Store, e RaftEntry) {
	t.Helper()
	if err := raftAppend(s, e); err != nil {
		t.Fatalf("append of %v: %v", e.EntryID, err)
	}
}

// raftBatch returns a Raft entry that holds one entry of shard 1 with the given index.
func raftBatch(index, term, shardIndex uint64) RaftEntry {
	return RaftEntry{EntryID: EntryID{index, term}, Batch: []Entry{entry(1, shardIndex, 20, true)}}
}

// TestFoundReplica turns a single node's directory into a cluster node. The log stays the same,
// byte for byte, and continues.
func TestFoundReplica(t *testing.T) {
	mem := vfs.NewMem()
	s := mustOpen(t, mem, Options{})
	appendWait(t, s, entry(1, 1, 30, true), entry(2, 1, 30, true))
	appendWait(t, s, entry(1, 2, 30, true))
	closeStore(t, s)
	name := wal.SegmentName(1)
	before := readFile(t, mem, name)
	mustFound(t, mem)
	if err := FoundReplica(mem, testDir, founding()); !errors.Is(err, ErrReplica) {
		t.Fatalf("founded twice: %v", err)
	}
	s = openReplica(t, mem)
	mustAppend(t, s, raftBatch(2, 2, 3))
	r := s.Raft()
	if got := replayed(t, s, 1, 0); len(got) != 2 {
		t.Fatalf("replay before the commit: %v", got)
	}
	r.Commit(2)
	if got := replayed(t, s, 1, 0); len(got) != 3 {
		t.Fatalf("replay after the commit: %v", got)
	}
	if st := r.State(); st.Cluster != 7 || string(st.Members) != "me" {
		t.Fatalf("state %+v", st)
	}
	closeStore(t, s)
	if after := readFile(t, mem, name); !strings.HasPrefix(string(after), string(before)) {
		t.Fatal("what the single node wrote has changed")
	}
	if _, err := Repair(mem, testDir); !errors.Is(err, ErrReplica) {
		t.Fatalf("Repair: %v", err)
	}
	report, err := Inspect(mem, testDir)
	if err != nil || len(report.Damage) != 0 || len(report.Missing) != 0 {
		t.Fatalf("Inspect: %+v, %v", report, err)
	}
	if err := mem.Remove(testDir + "/" + raftFile); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(mem, testDir, replicaOptions()); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("opened without the state of the replica: %v", err)
	}
}

// A replica that does not sync would acknowledge what it can lose.
func TestReplicaSyncsAlways(t *testing.T) {
	mem := vfs.NewMem()
	mustFound(t, mem)
	for _, o := range []Options{{Sync: SyncBatch}, {Sync: SyncOS}, {Scratch: true}} {
		if _, err := Open(mem, testDir, quiet(o)); !errors.Is(err, ErrReplica) {
			t.Fatalf("%+v: %v", o, err)
		}
	}
	closeStore(t, openReplica(t, mem))
}

// A bit flip in the durable Raft state keeps a replica from starting.
func TestDamagedRaftState(t *testing.T) {
	mem := vfs.NewMem()
	mustFound(t, mem)
	size := len(readFile(t, mem, raftFile))
	for at := range size {
		fs := mem.CrashClone(rand.New(rand.NewPCG(1, 1)))
		flip(t, fs, raftFile, at)
		if _, err := Open(fs, testDir, replicaOptions()); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("flip at %d: %v", at, err)
		}
	}
	b := readFile(t, mem, raftFile)
	for cut := range size {
		fs := freshDir(t)
		writeFile(t, fs, raftFile, b[:cut])
		if _, err := Open(fs, testDir, replicaOptions()); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("cut at %d: %v", cut, err)
		}
	}
}

// A torn tail removes whole entries of the replicated log.
func TestTornRaftEntry(t *testing.T) {
	mem := vfs.NewMem()
	mustFound(t, mem)
	s := openReplica(t, mem)
	mustAppend(t, s, raftBatch(2, 2, 1))
	kept := int(s.Stats().Bytes)
	mustAppend(t, s, RaftEntry{EntryID: EntryID{3, 2}, Batch: []Entry{entry(1, 2, 30, true), entry(2, 1, 30, true), entry(1, 3, 30, true)}})
	whole := int(s.Stats().Bytes)
	closeStore(t, s)
	b := readFile(t, mem, wal.SegmentName(1))
	state := readFile(t, mem, raftFile)
	for cut := kept; cut <= whole; cut++ {
		fs := freshDir(t)
		writeFile(t, fs, raftFile, state)
		writeFile(t, fs, wal.SegmentName(1), b[:cut])
		s := openReplica(t, fs)
		want, shard := EntryID{2, 2}, uint64(1)
		if cut == whole {
			want, shard = EntryID{3, 2}, 3
		}
		if s.Raft().Last() != want || s.Last(1) != shard || (s.Last(2) == 1) != (cut == whole) {
			t.Fatalf("cut at %d: the log ends with %v, shard 1 with %d", cut, s.Raft().Last(), s.Last(1))
		}
		closeStore(t, s)
	}
}

// The last synced frame is no longer a torn end if a mark follows it.
func TestMark(t *testing.T) {
	mem := vfs.NewMem()
	mustFound(t, mem)
	s := openReplica(t, mem)
	r := s.Raft()
	mustAppend(t, s, raftBatch(2, 2, 1))
	acknowledged := int(s.Stats().Bytes)
	r.Mark()
	if err := s.SyncNow(); err != nil {
		t.Fatal(err)
	}
	marked := s.Stats().Bytes
	r.Mark()
	if err := s.SyncNow(); err != nil || s.Stats().Bytes != marked || marked != int64(acknowledged+wal.FrameHeaderSize) {
		t.Fatalf("%d bytes after a second mark, %d after the first: %v", s.Stats().Bytes, marked, err)
	}
	for at := wal.SegmentHeaderSize; at < acknowledged; at++ {
		fs := mem.CrashClone(rand.New(rand.NewPCG(1, 1)))
		flip(t, fs, wal.SegmentName(1), at)
		if _, err := Open(fs, testDir, replicaOptions()); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("flip at %d: %v", at, err)
		}
	}
	mustAppend(t, s, raftBatch(3, 2, 2))
	if err := r.Rewind(3); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, raftBatch(3, 3, 2))
	r.Commit(3)
	closeStore(t, s)
	s = openReplica(t, mem)
	if got := s.Raft().Last(); got != (EntryID{3, 3}) {
		t.Fatalf("last %v", got)
	}
	closeStore(t, s)
}

// Checkpoints, cleaning and deletion never go past what is committed.
func TestUncommittedIsKept(t *testing.T) { synctest.Test(t, testUncommittedIsKept) }

func testUncommittedIsKept(t *testing.T) {
	mem := vfs.NewMem()
	mustFound(t, mem)
	s := openReplica(t, mem)
	defer closeStore(t, s)
	r := s.Raft()
	for i := uint64(1); i <= 40; i++ {
		mustAppend(t, s, RaftEntry{EntryID: EntryID{i + 1, 2}, Batch: []Entry{entry(1, i, 300, true)}})
	}
	written := make(chan error, 1)
	go func() { written <- s.WriteCheckpoint(1, 40, writeText("40")) }()
	synctest.Wait() // WriteCheckpoint waits for the commit
	r.Commit(30)
	if err := s.WriteCheckpoint(1, 20, writeText("20")); err != nil {
		t.Fatal(err)
	}
	if err := r.Rewind(38); err != nil {
		t.Fatal(err)
	}
	if err := <-written; !errors.Is(err, ErrRewound) {
		t.Fatalf("checkpoint of a cut entry: %v", err)
	}
	for i := uint64(1); i <= 37; i++ {
		s.Release(1, i, 1)
	}
	segments := func() int { return s.Stats().Segments }
	before := segments()
	if err := s.Forget(); err != nil || segments() != before {
		t.Fatalf("%d of %d segments left before the log is compacted: %v", segments(), before, err)
	}
	bytes := s.Stats().Bytes
	all := r.Spare(41, bytes)
	none := r.Spare(0, bytes)
	if most := r.Spare(0, bytes/2); none != 0 || most == 0 || most >= all || r.Spare(most-1, bytes) >= most || r.Spare(most, bytes) != most {
		t.Fatalf("spare up to entry %d, with half of the bytes %d, with all of them %d", all, most, none)
	}
	if err := r.Compact(15); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, raftBatch(38, 2, 37))
	mustAppend(t, s, raftBatch(39, 2, 38))
	mustAppend(t, s, raftBatch(40, 2, 39))
	r.Commit(40)
	if err := s.Forget(); err != nil || segments() >= before {
		t.Fatalf("%d of %d segments left: %v", segments(), before, err)
	}
	if got, err := r.Entries(16, 38, 1<<20); err != nil || len(got) != 22 {
		t.Fatalf("%d entries above the compacted ones, %v", len(got), err)
	}
	if _, err := r.Entries(15, 38, 1<<20); !errors.Is(err, ErrNotFound) {
		t.Fatalf("a compacted entry: %v", err)
	}
	if term, err := r.Term(15); term != 2 || err != nil {
		t.Fatalf("term before the first entry: %d, %v", term, err)
	}
}

// When a leadership ends, no call keeps waiting for a commit, and none starts to until the next
// begins.
func TestLostWaits(t *testing.T) { synctest.Test(t, testLostWaits) }

func testLostWaits(t *testing.T) {
	mem := vfs.NewMem()
	mustFound(t, mem)
	s := openReplica(t, mem)
	defer closeStore(t, s)
	r := s.Raft()
	for i := uint64(1); i <= 3; i++ {
		mustAppend(t, s, raftBatch(i+1, 2, i))
	}
	r.Commit(2)
	wait := func() chan error {
		results := make(chan error, 3)
		go func() { results <- s.WriteCheckpoint(1, 2, writeText("2")) }()
		go func() { results <- s.WriteCheckpoint(2, 1, writeText("not appended")) }()
		go func() { results <- s.awaitSettled() }()
		synctest.Wait()
		return results
	}
	open := wait()
	if len(open) != 0 {
		t.Fatalf("what is not committed is not waited for: %v", <-open)
	}
	r.Lead(false)
	for _, results := range []chan error{open, wait()} {
		for range 3 {
			if err := <-results; !errors.Is(err, ErrLost) {
				t.Fatalf("the leadership has ended: %v", err)
			}
		}
	}
	if err := s.WriteCheckpoint(1, 1, writeText("1")); err != nil {
		t.Fatalf("a checkpoint of what is committed: %v", err)
	}
	r.Lead(true)
	open = wait()
	r.Commit(4)
	if err := errors.Join(<-open, <-open); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, RaftEntry{EntryID: EntryID{5, 2}, Batch: []Entry{entry(2, 1, 20, true)}})
	if synctest.Wait(); len(open) > 0 {
		t.Fatalf("a checkpoint of what is not committed: %v", <-open)
	}
	r.Commit(5)
	if err := <-open; err != nil {
		t.Fatal(err)
	}
	if err := s.awaitCommitted(1, 4); !errors.Is(err, ErrRewound) {
		t.Fatalf("an entry that is not in the log is committed: %v", err)
	}
}

// Entries that a checkpoint covers count as committed, even if the log had not recorded that before
// a power failure.
func TestCheckpointSaysWhatIsCommitted(t *testing.T) {
	mem := vfs.NewMem()
	mustFound(t, mem)
	s := openReplica(t, mem)
	for i := uint64(1); i <= 10; i++ {
		mustAppend(t, s, raftBatch(i+1, 2, i))
	}
	s.Raft().Commit(8)
	if err := s.WriteCheckpoint(1, 6, writeText("6")); err != nil {
		t.Fatal(err)
	}
	s.Raft().AppendInline(raftBatch(12, 2, 11), func(error) {})
	s.Raft().Commit(11)
	if got := replayed(t, s, 1, 10); len(got) != 0 { // what follows is not written yet
		t.Fatal(got)
	}
	crashed := mem.CrashClone(rand.New(rand.NewPCG(1, 1)))
	closeStore(t, s)
	s = openReplica(t, crashed)
	defer closeStore(t, s)
	if got := s.Raft().Committed(); got != 7 {
		t.Fatalf("committed %d, the checkpoint is of entry 7", got)
	}
	if err := s.Raft().Rewind(8); err != nil || len(replayed(t, s, 1, 0)) != 6 {
		t.Fatal(err)
	}
}

// Body and Entries do not return cached entries after those are cut.
func TestReadAfterRewind(t *testing.T) {
	mem := vfs.NewMem()
	mustFound(t, mem)
	s := openReplica(t, mem)
	defer closeStore(t, s)
	for term := uint64(2); term < 5; term++ {
		if err := s.Raft().Rewind(2); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("of term %d", term)
		mustAppend(t, s, RaftEntry{EntryID: EntryID{2, term}, Batch: []Entry{{Shard: 1, Index: 1, Data: facts(text)}}})
		body, err := s.Body(Pos{1, 1, 0}, nil)
		if err != nil || string(body) != text {
			t.Fatalf("%q, %v; want %q", body, err, text)
		}
		entries, err := s.Raft().Entries(2, 3, 0)
		if err != nil || string(entries[0].Batch[0].Data) != string(facts(text)) {
			t.Fatalf("%v, %v", entries, err)
		}
	}
}

// A replay continues when the end of the segment it reads is cut meanwhile.
func TestReplayDuringRewind(t *testing.T) {
	mem := vfs.NewMem()
	mustFound(t, mem)
	s, err := Open(mem, testDir, quiet(Options{LazySync: time.Hour}))
	if err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, s)
	for i := uint64(1); i <= 8; i++ {
		mustAppend(t, s, RaftEntry{EntryID: EntryID{i + 1, 2}, Batch: []Entry{entry(1, i, replayBytes/2, true)}})
	}
	s.Raft().Commit(7)
	if got := replayed(t, s, 1, 6); len(got) != 0 { // no committed entry follows yet
		t.Fatal(got)
	}
	var seen []uint64
	err = s.Replay(1, 0, func(index uint64, _ uint32, _ []byte) error {
		if seen = append(seen, index); index == 2 {
			return s.Raft().Rewind(8)
		}
		return nil
	})
	if err != nil || !slices.Equal(seen, []uint64{1, 2, 3, 4, 5, 6}) {
		t.Fatalf("replayed %v, %v", seen, err)
	}
}

// TestRestoreIsOneCut checks that a restore replays all shards up to the same entry, even if more
// is written and committed meanwhile.
func TestRestoreIsOneCut(t *testing.T) {
	mem := vfs.NewMem()
	mustFound(t, mem)
	s := openReplica(t, mem)
	defer closeStore(t, s)
	replayed := func() (last uint64) {
		t.Helper()
		err := s.Replay(1, 0, func(index uint64, _ uint32, _ []byte) error {
			last = index
			return nil
		})
		if err != nil || last != s.ReplayEnd(1) {
			t.Fatalf("replayed up to entry %d, it should end at %d: %v", last, s.ReplayEnd(1), err)
		}
		return last
	}
	mustAppend(t, s, raftBatch(2, 2, 1))
	mustAppend(t, s, raftBatch(3, 2, 2))
	s.Raft().Commit(2)
	err := s.Raft().Restore(func() error {
		mustAppend(t, s, raftBatch(4, 2, 3))
		s.Raft().Commit(4)
		if last := replayed(); last != 1 {
			t.Errorf("the restore goes up to entry %d", last)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if last := replayed(); last != 3 {
		t.Errorf("after the restore, replay goes up to entry %d", last)
	}
}

// TestReferencesOfReplica checks that the references of an entry count once, whether its sender
// applied it or it is applied on commit, and that those of cut entries do not count.
func TestReferencesOfReplica(t *testing.T) {
	mem := vfs.NewMem()
	mustFound(t, mem)
	s := openReplica(t, mem)
	live := func(when string, want int64) {
		t.Helper()
		if got := s.Stats().Live; got != want {
			t.Errorf("%s: %d references count, want %d", when, got, want)
		}
	}
	own := raftBatch(2, 2, 1)
	own.Applied = true
	mustAppend(t, s, own)
	mustAppend(t, s, raftBatch(3, 2, 2))
	live("appended", 1)
	s.Raft().Commit(3)
	s.Retain(1, 2, 1)
	live("applied", 2)
	own = raftBatch(4, 2, 3)
	own.Applied = true
	mustAppend(t, s, own)
	mustAppend(t, s, raftBatch(5, 2, 4))
	live("with a tail", 3)
	err := s.Raft().Restore(func() error {
		live("uncounted", 0)
		s.Retain(1, 1, 1)
		s.Retain(1, 2, 1)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Raft().Rewind(5); err != nil {
		t.Fatal(err)
	}
	live("cut", 2)
	closeStore(t, s)

	s = openReplica(t, mem)
	defer closeStore(t, s)
	s.Raft().Commit(3)
	s.Retain(1, 1, 1)
	s.Retain(1, 2, 1)
	live("opened again", 2)
	if err := s.Raft().Rewind(4); err != nil {
		t.Fatal(err)
	}
	live("the found tail is cut", 2)
}

// TestRewindAcrossSegments cuts back across sealed segments and continues in the one that is left.
func TestRewindAcrossSegments(t *testing.T) {
	for from := uint64(2); from <= 41; from += 3 {
		mem := vfs.NewMem()
		mustFound(t, mem)
		s := openReplica(t, mem)
		for i := uint64(1); i <= 40; i++ {
			mustAppend(t, s, RaftEntry{EntryID: EntryID{i + 1, 2}, Batch: []Entry{entry(1, i, 300, true)}, Applied: true})
		}
		if err := s.Raft().Rewind(from); err != nil {
			t.Fatal(err)
		}
		if s.Raft().Last().Index != from-1 || s.Last(1) != from-2 || s.Written(1) != from-2 {
			t.Fatalf("cut from %d: the log ends with %v, shard 1 with %d", from, s.Raft().Last(), s.Last(1))
		}
		if live := s.Stats().Live; live != int64(from-2) {
			t.Fatalf("cut from %d: %d references", from, live)
		}
		for i := from; i < from+20; i++ {
			mustAppend(t, s, RaftEntry{EntryID: EntryID{i, 3}, Batch: []Entry{entry(1, i-1, 300, true)}})
		}
		closeStore(t, s)
		s = openReplica(t, mem)
		s.Raft().Commit(from + 19)
		if got := len(replayed(t, s, 1, 0)); got != int(from+18) {
			t.Fatalf("cut from %d: %d entries of shard 1", from, got)
		}
		closeStore(t, s)
	}
}

// TestCrashInRewind crashes the machine at every operation of a cut across several segments. Some
// of the entries may remain, and the cut can be repeated.
func TestCrashInRewind(t *testing.T) {
	const from, last = 5, 41
	for k := 1; ; k++ {
		mem := vfs.NewMem()
		mustFound(t, mem)
		fs := vfs.NewErrors(mem)
		s := openReplica(t, fs)
		for i := uint64(2); i <= last; i++ {
			mustAppend(t, s, RaftEntry{EntryID: EntryID{i, 2}, Batch: []Entry{entry(1, i-1, 300, true)}})
		}
		fs.CrashAt(fs.Count() + k)
		err := s.Raft().Rewind(from)
		if err != nil && !errors.Is(err, ErrFailed) {
			t.Fatal(err)
		}
		crashed := mem.CrashClone // of the disk before the store is closed
		for n := range uint64(8) {
			s := openReplica(t, crashed(rand.New(rand.NewPCG(uint64(k), n))))
			if got := s.Raft().Last().Index; got < from-1 || got > last || err == nil && got != from-1 {
				t.Fatalf("crash at %d: the log ends with %d", k, got)
			}
			if err := s.Raft().Rewind(from); err != nil || s.Raft().Last().Index != from-1 {
				t.Fatalf("crash at %d: cut again: %v, %v", k, s.Raft().Last(), err)
			}
			closeStore(t, s)
		}
		s.Close()
		if err == nil {
			return
		}
	}
}

// A caller that waits for an entry is told of the cut before the entry is cut.
func TestRewindAfterPromises(t *testing.T) {
	mem := vfs.NewMem()
	mustFound(t, mem)
	s := openReplica(t, mem)
	defer closeStore(t, s)
	var told EntryID
	s.Raft().AppendInline(raftBatch(2, 2, 1), func(error) { told = s.Raft().Last() })
	if got := replayed(t, s, 1, 0); len(got) != 0 { // the entry is not written
		t.Fatal(got)
	}
	if err := s.Raft().Rewind(2); err != nil {
		t.Fatal(err)
	}
	if told != (EntryID{2, 2}) {
		t.Fatalf("the log ended with %v when the entry's done was called", told)
	}
}

// A full disk makes Save fail, and Save may be retried.
func TestSaveOnAFullDisk(t *testing.T) {
	fs := vfs.NewErrors(vfs.NewMem())
	mustFound(t, fs)
	s := openReplica(t, fs)
	defer closeStore(t, s)
	st := s.Raft().State()
	st.Term, st.Vote = 5, 2
	fs.SetFull(true)
	if err := s.Raft().Save(st); !errors.Is(err, ErrNoSpace) {
		t.Fatal(err)
	}
	if got := s.Raft().State().Term; got != 1 {
		t.Fatalf("term %d counts although it is not on the disk", got)
	}
	fs.SetFull(false)
	if err := s.Raft().Save(st); err != nil || s.Raft().State().Vote != 2 {
		t.Fatal(err)
	}
	fs.FailSync(errors.New("broken"))
	if err := s.Raft().Save(st); !errors.Is(err, ErrFailed) {
		t.Fatal(err)
	}
	if err := raftAppend(s, raftBatch(2, 5, 1)); !errors.Is(err, ErrFailed) {
		t.Fatalf("append after a failure: %v", err)
	}
	fs.FailSync(nil)
	s.state = State{} // so that Close returns no error
}

// raftTwin applies to a slice what is applied to a store.
type raftTwin struct {
	rng       *rand.Rand
	log       []RaftEntry // from index 2 on
	sure      int         // length of the part that survives a crash
	committed int
	first     int // length of the part that may be gone
	state     RaftState
	shards    [3]uint64
	settled   [3]uint64 // covered by checkpoints
}

func newRaftTwin(seed uint64) *raftTwin {
	return &raftTwin{rng: rand.New(rand.NewPCG(seed, 0)), state: founding()}
}

func (w *raftTwin) term() uint64 {
	if n := len(w.log); n > 0 {
		return w.log[n-1].Term
	}
	return 1
}

func (w *raftTwin) make() RaftEntry {
	id := EntryID{Index: uint64(len(w.log)) + 2, Term: w.term() + uint64(w.rng.IntN(8)/7)}
	if w.rng.IntN(6) == 0 {
		return RaftEntry{EntryID: id, Type: uint8(w.rng.IntN(3)), Data: []byte(fmt.Sprint(id))}
	}
	e := RaftEntry{EntryID: id}
	for range 1 + w.rng.IntN(3) {
		shard := uint32(1 + w.rng.IntN(2))
		w.shards[shard]++
		text := fmt.Sprintf("f%d/%d of term %d", shard, w.shards[shard], id.Term)
		size := 1 + w.rng.IntN(500)
		e.Batch = append(e.Batch, Entry{Shard: shard, Index: w.shards[shard], Data: facts(fmt.Sprintf("%-*s", size, text)), Refs: 1})
	}
	return e
}

func (w *raftTwin) cut(n int) {
	for _, e := range slices.Backward(w.log[n:]) {
		for _, b := range slices.Backward(e.Batch) {
			w.shards[b.Shard] = b.Index - 1
		}
	}
	w.log = w.log[:n]
}

// committedOf returns the last committed entry of a shard.
func (w *raftTwin) committedOf(shard uint32) (last uint64) {
	for _, e := range w.log[:w.committed] {
		for _, b := range e.Batch {
			if b.Shard == shard {
				last = b.Index
			}
		}
	}
	return last
}

// step applies one random operation to both. After an error w.log is the most, and w.log[:w.sure]
// the least, that the disk may hold.
func (w *raftTwin) step(s *Store) (err error) {
	r := s.Raft()
	switch w.rng.IntN(12) {
	default:
		e := w.make()
		w.log = append(w.log, e)
		if err = raftAppend(s, e); err == nil {
			w.sure = len(w.log)
		}
	case 0, 1:
		w.committed += w.rng.IntN(len(w.log) - w.committed + 1)
		r.Commit(uint64(w.committed) + 1)
	case 2:
		n := w.committed + w.rng.IntN(len(w.log)-w.committed+1)
		w.sure = n
		if err = r.Rewind(uint64(n) + 2); err == nil {
			w.cut(n)
		}
	case 3:
		st := w.state
		st.Term, st.Vote = max(st.Term, w.term())+1, uint64(w.rng.IntN(4)) // never a lower one
		if err = r.Save(st); err == nil {
			w.state = st
		}
	case 4:
		r.Mark()
	case 5:
		if n := w.first + w.rng.IntN(w.committed-w.first+1); n > w.first {
			if err = r.Compact(uint64(n) + 1); err == nil {
				w.first = n
			}
		}
	case 6:
		shard := uint32(1 + w.rng.IntN(2))
		if last := w.committedOf(shard); last > w.settled[shard] {
			if err = s.WriteCheckpoint(shard, last, writeText(fmt.Sprint(last))); err == nil {
				for i := w.settled[shard] + 1; i <= last; i++ {
					if i%5 > 0 {
						s.Release(shard, i, 1)
					}
				}
				w.settled[shard] = last
			}
		}
	case 7:
		err = s.Forget()
	}
	return err
}

// check compares a store with the twin. The store may know of fewer committed entries.
func (w *raftTwin) check(s *Store) error {
	r := s.Raft()
	n := int(r.Last().Index) - 1
	switch {
	case n < w.sure || n > len(w.log):
		return fmt.Errorf("the log has %d entries, want %d to %d", n, w.sure, len(w.log))
	case int(r.Committed())-1 > w.committed:
		return fmt.Errorf("committed %d, want at most %d", r.Committed(), w.committed+1)
	case n > w.first && r.Last() != w.log[n-1].EntryID:
		return fmt.Errorf("last %v, want %v", r.Last(), w.log[n-1].EntryID)
	}
	for i := int(r.First()) - 2; i < n; {
		entries, err := r.Entries(uint64(i)+2, uint64(n)+2, 1000)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := sameEntry(e, w.log[i]); err != nil {
				return err
			}
			term, err := r.Term(e.Index)
			if err != nil || term != e.Term {
				return fmt.Errorf("term of %v: %d, %v", e.EntryID, term, err)
			}
			i++
		}
	}
	return nil
}

func sameEntry(got, want RaftEntry) error {
	same := got.EntryID == want.EntryID && got.Type == want.Type && string(got.Data) == string(want.Data) && len(got.Batch) == len(want.Batch)
	for i := 0; same && i < len(got.Batch); i++ {
		a, b := &got.Batch[i], &want.Batch[i]
		same = a.Shard == b.Shard && a.Index == b.Index && a.Refs == b.Refs && string(a.Data) == string(b.Data)
	}
	if !same {
		return fmt.Errorf("entry %v is %v, want %v", want.EntryID, got, want)
	}
	return nil
}

// restart compares what a reopened store finds with the twin, and continues both from there.
func (w *raftTwin) restart(s *Store) error {
	if err := w.check(s); err != nil {
		return err
	}
	n := int(s.Raft().Last().Index) - 1
	w.committed = min(w.committed, n)
	w.cut(n)
	w.sure = n
	s.Raft().Commit(uint64(w.committed) + 1)
	for shard := uint32(1); shard <= 2; shard++ {
		c, from, err := s.Checkpoint(shard)
		if err != nil || from < w.settled[shard] {
			return fmt.Errorf("checkpoint %d of shard %d, want %d: %w", from, shard, w.settled[shard], err)
		}
		if c != nil {
			text, err := io.ReadAll(c)
			c.Close()
			if err != nil || string(text) != fmt.Sprint(from) {
				return fmt.Errorf("checkpoint %d holds %q, %w", from, text, err)
			}
		}
		w.settled[shard] = from
		want := w.committedOf(shard)
		next := from + 1
		err = s.Replay(shard, from, func(index uint64, _ uint32, fact []byte) error {
			if index != next || !strings.HasPrefix(string(fact), fmt.Sprintf("f%d/%d ", shard, index)) {
				return fmt.Errorf("entry %d holds %q, want entry %d", index, fact, next)
			}
			next++
			return nil
		})
		if err != nil || next != max(want, from)+1 {
			return fmt.Errorf("replay of shard %d ends before %d, committed is %d: %w", shard, next, want, err)
		}
		if s.Last(shard) != max(w.shards[shard], from) {
			return fmt.Errorf("shard %d ends with %d, want %d", shard, s.Last(shard), w.shards[shard])
		}
		for i := uint64(1); i <= w.shards[shard]; i++ {
			if i > from || i%5 == 0 {
				s.Retain(shard, i, 1)
			}
		}
	}
	return nil
}

// TestRaftTwin compares a replica's log with a slice, across restarts and power failures.
func TestRaftTwin(t *testing.T) {
	for seed := uint64(1); seed <= 30; seed++ {
		fs := vfs.NewMem()
		mustFound(t, fs)
		s := openReplica(t, fs)
		w := newRaftTwin(seed)
		for n := range 200 {
			err := w.step(s)
			if err == nil && n%10 == 0 {
				err = w.check(s)
			}
			if err != nil {
				t.Fatalf("seed %d step %d: %v", seed, n, err)
			}
			if w.rng.IntN(20) > 0 {
				continue
			}
			if crashed := fs.CrashClone(w.rng); w.rng.IntN(2) == 0 {
				closeStore(t, s)
			} else {
				s.Close()
				fs = crashed
			}
			s = openReplica(t, fs)
			if err := w.restart(s); err != nil {
				t.Fatalf("seed %d step %d, opened again: %v", seed, n, err)
			}
		}
		closeStore(t, s)
	}
}

// TestRaftCrashAtEveryOperation crashes the machine at every operation that changes the disk.
func TestRaftCrashAtEveryOperation(t *testing.T) {
	points := 0
	from, to := crashSeeds(t, 6)
	for seed := from; seed < to; seed++ {
		for k := 1; ; k++ {
			points++
			mem := vfs.NewMem()
			mustFound(t, mem)
			fs := vfs.NewErrors(mem)
			fs.CrashAt(k)
			w := newRaftTwin(seed)
			if s, err := Open(fs, testDir, replicaOptions()); err == nil {
				for n := 0; n < 40 && err == nil; n++ {
					err = w.step(s)
				}
				s.Close()
			}
			for n := range uint64(2) {
				after := *w
				after.log = slices.Clone(w.log)
				s, err := Open(mem.CrashClone(rand.New(rand.NewPCG(seed, n))), testDir, replicaOptions())
				if err == nil {
					err = after.restart(s)
					if st := s.Raft().State(); err == nil && st.Term < w.state.Term {
						err = fmt.Errorf("term %d, saved was %d", st.Term, w.state.Term)
					}
					s.Close()
				}
				if err != nil {
					t.Fatalf("seed %d crash at %d clone %d: %v", seed, k, n, err)
				}
			}
			if !fs.Crashed() {
				break
			}
		}
	}
	t.Logf("%d crashes", points)
}

// TestRefound starts another cluster with a replica's log: entries that could still be cut are now
// committed, and the log continues where it ended.
func TestRefound(t *testing.T) {
	mem := vfs.NewMem()
	mustFound(t, mem)
	s := openReplica(t, mem)
	for i := uint64(1); i <= 40; i++ {
		mustAppend(t, s, raftBatch(i+1, 2+i/30, i))
	}
	s.Raft().Commit(31)
	if err := s.Raft().Refound(RaftState{Cluster: 8, Node: 1, Term: 1, Vote: 3, Members: []byte("alone")}); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	s = openReplica(t, mem)
	r := s.Raft()
	end := EntryID{41, 3}
	want := RaftState{Cluster: 8, Node: 1, Term: 3, Commit: 41, First: end, Members: []byte("alone"), MembersAt: 41}
	if st := r.State(); !reflect.DeepEqual(st, want) {
		t.Errorf("%+v", st)
	}
	if term, err := r.Term(41); r.Last() != end || r.Committed() != 41 || r.First() != 42 || term != 3 || err != nil {
		t.Errorf("last %v, committed %d, first %d, term %d, %v", r.Last(), r.Committed(), r.First(), term, err)
	}
	if changes, err := r.Special(r.State().MembersAt, r.Committed()); err != nil || len(changes) > 0 {
		t.Errorf("%v, %v", changes, err)
	}
	mustAppend(t, s, raftBatch(42, 4, 41))
	closeStore(t, s)
	s = openReplica(t, mem)
	defer closeStore(t, s)
	s.Raft().Commit(42)
	if got := replayed(t, s, 1, 0); len(got) != 41 {
		t.Errorf("%d entries", len(got))
	}
}
