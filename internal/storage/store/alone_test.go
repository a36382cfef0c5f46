package store

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// TestSnapshotOfReplica applies random operations to a replica and opens a copy of its Snapshot as
// a single node's directory. The copy must hold everything committed and nothing that may still be
// cut. That node then becomes the first one of another cluster.
func TestSnapshotOfReplica(t *testing.T) {
	cleaned := 0
	for seed := uint64(1); seed <= 15; seed++ {
		fs := vfs.NewMem()
		mustFound(t, fs)
		s := openReplica(t, fs)
		w := newRaftTwin(seed)
		for n := range 200 {
			if err := w.step(s); err != nil {
				t.Fatalf("seed %d step %d: %v", seed, n, err)
			}
			if n%20 > 0 {
				continue
			}
			if n%60 == 0 {
				cleaned += w.clean(t, s)
			}
			sn, err := s.Snapshot()
			if err != nil {
				t.Fatalf("seed %d step %d: %v", seed, n, err)
			}
			copied := restored(t, sn)
			sn.Close()
			if err := w.checkAlone(copied, s); err != nil {
				t.Fatalf("seed %d step %d, alone: %v", seed, n, err)
			}
			foundAgain(t, copied)
		}
		closeStore(t, s)
	}
	if cleaned == 0 {
		t.Error("no segment was cleaned")
	}
}

// clean commits everything and cleans the segments that can be cleaned.
func (w *raftTwin) clean(t *testing.T, s *Store) (n int) {
	t.Helper()
	w.committed = len(w.log)
	s.Raft().Commit(uint64(w.committed) + 1)
	s.mu.Lock()
	segments := slices.Clone(s.segments)
	s.mu.Unlock()
	live := func(shard uint32, lo, hi uint64) (live []Pos, err error) {
		for i := lo; i <= hi; i++ {
			if i%5 == 0 {
				live = append(live, Pos{shard, i, 0})
			}
		}
		return live, nil
	}
	for i, seg := range segments {
		run := SegmentRun{First: seg.number, Last: segments[min(i+i%3, len(segments)-1)].number}
		if _, _, err := s.rewritable(run); err != nil {
			continue // needed for replay, or part of the run before
		}
		n++
		if err := s.Rewrite(run, live); err != nil {
			t.Fatal(err)
		}
	}
	return n
}

// checkAlone compares a single node's directory with what is committed and with the replica it was
// copied from.
func (w *raftTwin) checkAlone(fs vfs.FS, of *Store) error {
	report, err := Inspect(fs, testDir)
	if err != nil || len(report.Damage) > 0 || len(report.Missing) > 0 {
		return fmt.Errorf("%v, missing %v: %w", report.Damage, report.Missing, err)
	}
	s, err := Open(fs, testDir, replicaOptions())
	if err != nil {
		return err
	}
	defer s.Close()
	if s.Raft() != nil {
		return errors.New("it is a replica")
	}
	for shard := uint32(1); shard <= 2; shard++ {
		c, from, err := s.Checkpoint(shard)
		if err != nil || from != w.settled[shard] {
			return fmt.Errorf("checkpoint %d of shard %d, want %d: %w", from, shard, w.settled[shard], err)
		}
		if c != nil {
			c.Close()
		}
		next := from + 1
		err = s.Replay(shard, from, func(index uint64, _ uint32, fact []byte) error {
			if index != next || !strings.HasPrefix(string(fact), fmt.Sprintf("f%d/%d ", shard, index)) {
				return fmt.Errorf("entry %d holds %q, want entry %d", index, fact, next)
			}
			next++
			return nil
		})
		if last := w.committedOf(shard); err != nil || next != max(last, from)+1 || s.Last(shard) != next-1 {
			return fmt.Errorf("shard %d ends with %d, want %d: %w", shard, s.Last(shard), last, err)
		}
		for i := uint64(1); i <= from; i++ {
			want, wantErr := of.Body(Pos{shard, i, 0}, nil)
			got, err := s.Body(Pos{shard, i, 0}, nil)
			if string(got) != string(want) || errors.Is(err, ErrNotFound) != errors.Is(wantErr, ErrNotFound) {
				return fmt.Errorf("the body of entry %d of shard %d is %q, %v; want %q, %v", i, shard, got, err, want, wantErr)
			}
		}
	}
	return appendErr(s, entry(1, s.Last(1)+1, 20, true))
}

// foundAgain turns the directory into a node of another cluster, which appends to its log.
func foundAgain(t *testing.T, fs vfs.FS) {
	t.Helper()
	mustFound(t, fs)
	s := openReplica(t, fs)
	mustAppend(t, s, raftBatch(2, 2, s.Last(1)+1))
	closeStore(t, s)
	closeStore(t, openReplica(t, fs))
}

// TestDamagedSegmentIsNotCopied: a segment that cannot be read makes the copy fail.
func TestDamagedSegmentIsNotCopied(t *testing.T) {
	s := sender(t)
	defer s.Close()
	sn, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer sn.Close()
	for i := range sn.Files {
		f := &sn.Files[i]
		if !f.alone {
			continue
		}
		flip(t, s.fs, f.Name, int(f.Size/2))
		if err := f.Copy(io.Discard); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", f.Name, err)
		}
	}
}
