package store

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// restored returns a file system with the files of a snapshot.
func restored(t *testing.T, sn *Snapshot) *vfs.Mem {
	t.Helper()
	fs := vfs.NewMem()
	if err := fs.MkdirAll(testDir); err != nil {
		t.Fatal(err)
	}
	for _, part := range sn.Files {
		size, err := part.Measure()
		if err != nil {
			t.Fatal(err)
		}
		f, err := fs.Create(testDir + "/" + part.Name)
		if err != nil {
			t.Fatal(err)
		}
		if err := part.Copy(io.NewOffsetWriter(f, 0)); err != nil {
			t.Fatal(err)
		}
		if got, err := f.Size(); err != nil || got != size {
			t.Fatalf("%s: %d bytes of %d, %v", part.Name, got, size, err)
		}
		f.Close()
	}
	return fs
}

// A snapshot taken while entries are written, checkpoints replaced and segments deleted holds
// everything that was durable when it was taken, and opens, even if the files are gone by the time
// they are read.
func TestSnapshotUnderLoad(t *testing.T) {
	s := mustOpen(t, vfs.NewMem(), Options{SegmentBytes: 4 << 10, Sync: SyncAlways})
	const rounds, each = 40, 25
	var mu sync.Mutex
	durable := uint64(0) // guarded by mu
	done := make(chan struct{})
	go func() {
		defer close(done)
		for round := range rounds {
			for i := range each {
				index := uint64(round*each + i + 1)
				appendWait(t, s, entry(1, index, 200, true))
				s.Release(1, index, 1) // so that segments can be deleted
				mu.Lock()
				durable = index
				mu.Unlock()
			}
			index := uint64((round + 1) * each)
			if err := s.WriteCheckpoint(1, index, writeText(fmt.Sprint(index))); err != nil {
				t.Error(err)
			}
			if err := s.Forget(); err != nil {
				t.Error(err)
			}
		}
	}()
	for taken := 0; ; taken++ {
		mu.Lock()
		promised := durable
		mu.Unlock()
		sn, err := s.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		checkSnapshot(t, sn, promised)
		select {
		case <-done:
			if taken < 3 {
				t.Errorf("only %d snapshots were taken", taken)
			}
			closeStore(t, s)
			return
		default:
		}
	}
}

// checkSnapshot opens the files of a snapshot: the checkpoint and the entries after it must reach
// up to what was promised, without a gap.
func checkSnapshot(t *testing.T, sn *Snapshot, promised uint64) {
	t.Helper()
	fs := restored(t, sn)
	sn.Close()
	s := mustOpen(t, fs, Options{SegmentBytes: 4 << 10})
	defer closeStore(t, s)
	r, after, err := s.Checkpoint(1)
	if err != nil {
		t.Fatal(err)
	}
	if r != nil {
		text, err := io.ReadAll(r)
		if err != nil || string(text) != fmt.Sprint(after) {
			t.Errorf("the checkpoint of %d says %s, %v", after, text, err)
		}
		r.Close()
	}
	got := replayed(t, s, 1, after)
	if last := after + uint64(len(got)); last < promised {
		t.Errorf("%d entries were promised, %d are there", promised, last)
	}
	want := slices.Clone(got)
	for i := range want {
		index := after + uint64(i) + 1
		want[i] = fmt.Sprintf("%d.0 %s", index, factText(1, index, 200))
	}
	if !slices.Equal(got, want) {
		t.Errorf("after %d: %d entries with a gap or other content", after, len(got))
	}
}
