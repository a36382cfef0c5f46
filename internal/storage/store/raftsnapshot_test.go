package store

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// sender returns a replica that had entries 2 to 41, committed up to 31, and has a checkpoint of
// shard 1 at its entry 10. The checkpoint covers what its log no longer holds.
func sender(t testing.TB) *Store {
	t.Helper()
	mem := vfs.NewMem()
	mustFound(t, mem)
	s := openReplica(t, mem)
	add := func(from, to uint64) {
		for i := from; i <= to; i++ {
			mustAppend(t, s, RaftEntry{EntryID: EntryID{i + 1, 2}, Batch: []Entry{entry(1, i, 300, true)}})
		}
	}
	add(1, 30)
	s.Raft().Commit(31)
	if err := s.WriteCheckpoint(1, 10, writeText("10")); err != nil {
		t.Fatal(err)
	}
	for i := uint64(1); i <= 10; i++ {
		s.Release(1, i, 1)
	}
	before := s.Stats().Segments
	if err := errors.Join(s.Raft().Compact(11), s.Forget()); err != nil || s.Stats().Segments == before {
		t.Fatalf("%d of %d segments are left, %v", s.Stats().Segments, before, err)
	}
	add(31, 40)
	return s
}

func snapshotAt(t testing.TB, s *Store, index uint64) *RaftSnapshot {
	t.Helper()
	sn, err := s.Raft().Snapshot(func() (uint64, error) { return index, nil })
	if err != nil {
		t.Fatal(err)
	}
	return sn
}

// joining returns the file system of node 2, with no entries or with some of its own.
func joining(t testing.TB, entries uint64) *vfs.Mem {
	t.Helper()
	mem := vfs.NewMem()
	st := RaftState{Cluster: 7, Node: 2}
	if entries > 0 {
		st.Term, st.Commit, st.First = 1, 1, EntryID{1, 1}
	}
	if err := FoundReplica(mem, testDir, st); err != nil {
		t.Fatal(err)
	}
	s := openReplica(t, mem)
	for i := uint64(1); i <= entries; i++ {
		mustAppend(t, s, RaftEntry{EntryID: EntryID{i + 1, 1}, Batch: []Entry{entry(2, i, 300, true)}})
	}
	closeStore(t, s)
	return mem
}

// stage copies a snapshot to a store. change may alter the bytes of a file or leave it out.
func stage(s *Store, sn *RaftSnapshot, change func(i int, b []byte) []byte) (*Staged, error) {
	st, err := s.Raft().Stage()
	if err != nil {
		return nil, err
	}
	for i := range sn.Files {
		b, err := io.ReadAll(sn.Files[i].Reader())
		if err != nil {
			return st, err
		}
		if change != nil {
			if b = change(i, b); b == nil {
				continue
			}
		}
		if err := st.Create(sn.Files[i].Name); err != nil {
			return st, err
		}
		if _, err := st.Write(b[:len(b)/2]); err != nil {
			return st, err
		}
		if _, err := st.Write(b[len(b)/2:]); err != nil {
			return st, err
		}
	}
	state := s.Raft().State()
	state.First, state.Commit, state.Members, state.MembersAt = sn.First, sn.ID.Index, []byte("us"), sn.ID.Index
	state.Term = max(state.Term, sn.ID.Term)
	return st, st.Seal(state)
}

func install(s *Store, sn *RaftSnapshot) error {
	st, err := stage(s, sn, nil)
	if err == nil {
		err = st.Verify()
	}
	if err == nil {
		err = st.Install(9, 3)
	}
	return err
}

// isInstalled checks that a store has the state that sender's had after an entry.
func isInstalled(s *Store, index uint64) error {
	r := s.Raft()
	st := r.State()
	if r.Last() != (EntryID{index, 2}) || r.Committed() != index || s.Last(1) != index-1 || s.Last(2) != 0 {
		return fmt.Errorf("last %v, committed %d, shard 1 ends with %d, shard 2 with %d", r.Last(), r.Committed(), s.Last(1), s.Last(2))
	}
	if st.Node != 2 || st.Term != 9 || st.Vote != 3 || string(st.Members) != "us" || st.MembersAt != index {
		return fmt.Errorf("state %+v", st)
	}
	c, at, err := s.Checkpoint(1)
	if err != nil || c == nil || at != 10 {
		return fmt.Errorf("checkpoint at %d: %w", at, err)
	}
	c.Close()
	next := at + 1
	err = s.Replay(1, at, func(i uint64, _ uint32, fact []byte) error {
		if i != next || !strings.HasPrefix(string(fact), fmt.Sprintf("f1/%d ", i)) {
			return fmt.Errorf("entry %d holds %q, want entry %d", i, fact, next)
		}
		next++
		return nil
	})
	if err != nil || next != index {
		return fmt.Errorf("replay ends before %d: %w", next, err)
	}
	if n := len(r.tail); n > 0 {
		return fmt.Errorf("%d entries may be cut", n)
	}
	return nil
}

// TestInstall installs a snapshot on an empty node and on one with other entries, and then appends
// more. The old directory must be gone afterwards.
func TestInstall(t *testing.T) {
	for _, own := range []uint64{0, 50} {
		from := sender(t)
		mem := joining(t, own)
		s := openReplica(t, mem)
		sn := snapshotAt(t, from, 31)
		if err := install(s, sn); err != nil {
			t.Fatal(err)
		}
		sn.Close()
		closeStore(t, s)
		s = openReplica(t, mem)
		if err := isInstalled(s, 31); err != nil {
			t.Fatal(err)
		}
		if names, err := mem.List(testDir); err != nil || len(names) != 1 {
			t.Fatalf("files %v, %v", names, err)
		}
		if entries, err := s.Raft().Entries(12, 32, 1<<20); err != nil || len(entries) != 20 {
			t.Fatalf("%d entries, %v", len(entries), err)
		}
		mustAppend(t, s, raftBatch(32, 9, 31))
		if err := s.Raft().Rewind(32); err != nil {
			t.Fatal(err)
		}
		from.Raft().Commit(41)
		sn = snapshotAt(t, from, 41)
		if err := install(s, sn); err != nil {
			t.Fatal(err)
		}
		sn.Close()
		closeStore(t, s)
		if _, err := Repair(mem, testDir); !errors.Is(err, ErrReplica) {
			t.Fatalf("Repair: %v", err)
		}
		if err := FoundReplica(mem, testDir, founding()); !errors.Is(err, ErrReplica) {
			t.Fatalf("founded again: %v", err)
		}
		if report, err := Inspect(mem, testDir); err != nil || len(report.Segments) < 2 || len(report.Damage)+len(report.Missing) > 0 {
			t.Fatalf("Inspect: %+v, %v", report, err)
		}
		s = openReplica(t, mem)
		if err := isInstalled(s, 41); err != nil {
			t.Fatal(err)
		}
		if names, err := mem.List(slotDir(testDir, 1)); err != nil || len(names) != 0 {
			t.Fatalf("files %v, %v", names, err)
		}
		closeStore(t, s)
		closeStore(t, from)
	}
}

// TestSnapshotEndsWithItsEntry takes snapshots that end at every possible entry, including the one
// right after the last one removed, with uncommitted entries after it.
func TestSnapshotEndsWithItsEntry(t *testing.T) {
	from := sender(t)
	defer closeStore(t, from)
	if err := from.Raft().Compact(20); err != nil {
		t.Fatal(err)
	}
	for index := uint64(20); index <= 41; index++ {
		mem := joining(t, 0)
		s := openReplica(t, mem)
		sn := snapshotAt(t, from, index)
		if err := install(s, sn); err != nil {
			t.Fatalf("at %d: %v", index, err)
		}
		sn.Close()
		closeStore(t, s)
		s = openReplica(t, mem)
		if err := isInstalled(s, index); err != nil {
			t.Fatalf("at %d: %v", index, err)
		}
		closeStore(t, s)
	}
}

// TestCrashInInstall crashes the machine at every operation. Afterwards the old or the new store
// must be there and intact.
func TestCrashInInstall(t *testing.T) {
	const own = 20
	from := sender(t)
	defer closeStore(t, from)
	sn := snapshotAt(t, from, 31)
	defer sn.Close()
	for k := 1; ; k++ {
		mem := joining(t, own)
		fs := vfs.NewErrors(mem)
		s := openReplica(t, fs)
		fs.CrashAt(fs.Count() + k)
		err := install(s, sn)
		if err != nil && !errors.Is(err, vfs.ErrCrashed) {
			t.Fatal(err)
		}
		crashed := mem.CrashClone // of the disk before the store is closed
		for n := range uint64(8) {
			clone := crashed(rand.New(rand.NewPCG(uint64(k), n)))
			for range 2 { // the second start finds what the first left
				s := openReplica(t, clone)
				old := s.Raft().Last() == (EntryID{own + 1, 1}) && s.Last(2) == own && s.Raft().State().Term == 1
				if old && err == nil {
					t.Fatalf("crash at %d: it was installed, and is gone", k)
				}
				if bad := isInstalled(s, 31); bad != nil && !old {
					t.Fatalf("crash at %d: %v", k, bad)
				}
				closeStore(t, s)
			}
		}
		s.Close()
		if err == nil {
			return
		}
	}
}

// TestBadSnapshot refuses incomplete snapshots.
func TestBadSnapshot(t *testing.T) {
	from := sender(t)
	defer closeStore(t, from)
	sn := snapshotAt(t, from, 31)
	defer sn.Close()
	s := openReplica(t, joining(t, 0))
	defer closeStore(t, s)
	refused := func(what string, change func(i int, b []byte) []byte) {
		t.Helper()
		st, err := stage(s, sn, change)
		if err == nil {
			err = st.Verify()
		}
		if !errors.Is(err, ErrCorrupt) {
			t.Fatalf("%s: %v", what, err)
		}
		if _, err := s.Raft().Stage(); !errors.Is(err, ErrStaging) {
			t.Fatalf("a second one at a time: %v", err)
		}
		st.Drop()
	}
	for file := range sn.Files {
		refused(fmt.Sprintf("without %s", sn.Files[file].Name), func(i int, b []byte) []byte {
			if i == file {
				return nil
			}
			return b
		})
		for cut := 1; cut < 1000; cut += 37 {
			refused(fmt.Sprintf("%s without its last %d bytes", sn.Files[file].Name, cut), func(i int, b []byte) []byte {
				if i == file {
					b = b[:max(len(b)-cut, 1)]
				}
				return b
			})
		}
		for at := range 40 {
			refused(fmt.Sprintf("%s with another byte", sn.Files[file].Name), func(i int, b []byte) []byte {
				if i == file {
					b[at*len(b)/40] ^= 4
				}
				return b
			})
		}
	}
	st, err := s.Raft().Stage()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "raft", "live", "../seg-0000000000000001.log", "seg-1.log", "x.tmp"} {
		if err := st.Create(name); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("file %q: %v", name, err)
		}
	}
	if _, err := st.Write([]byte("x")); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("bytes of no file: %v", err)
	}
	st.Drop()
	if s.State().Health != Healthy {
		t.Fatal(s.State())
	}
}

// A directory whose live file is damaged does not open.
func TestDamagedLiveFile(t *testing.T) {
	mem := joining(t, 0)
	if err := setLive(mem, testDir, 1); err != nil {
		t.Fatal(err)
	}
	for at := range liveSize {
		fs := mem.CrashClone(rand.New(rand.NewPCG(1, 1)))
		flip(t, fs, liveFile, at)
		if _, err := Open(fs, testDir, replicaOptions()); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("flip at %d: %v", at, err)
		}
	}
	if err := setLive(mem, testDir, len(slots)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(mem, testDir, replicaOptions()); !errors.Is(err, ErrCorrupt) {
		t.Fatal(err)
	}
}
