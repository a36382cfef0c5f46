package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

func TestReopenReplaysInOrder(t *testing.T) {
	fs := vfs.NewMem()
	s := mustOpen(t, fs, Options{SegmentBytes: 4 << 10})
	var want [3][]string
	for i := uint64(1); i <= 100; i++ {
		appendWait(t, s, entry(1, i, 50, true), entry(2, i, 70, true))
		for shard := uint32(1); shard <= 2; shard++ {
			want[shard] = append(want[shard], fmt.Sprintf("%d.0 %s", i, factText(shard, i, 30+20*int(shard))))
		}
	}
	if n := s.Stats().Segments; n < 3 {
		t.Fatalf("%d segments: the log did not roll", n)
	}
	check := func(s *Store) {
		t.Helper()
		for shard := uint32(1); shard <= 2; shard++ {
			if got := replayed(t, s, shard, 0); !slices.Equal(got, want[shard]) {
				t.Fatalf("shard %d: got %d facts %q, want %d", shard, len(got), got, len(want[shard]))
			}
			if got := replayed(t, s, shard, 60); !slices.Equal(got, want[shard][60:]) {
				t.Fatalf("shard %d after 60: got %q", shard, got)
			}
		}
	}
	check(s)
	closeStore(t, s)
	s = mustOpen(t, fs, Options{SegmentBytes: 4 << 10})
	check(s)
	if s.Last(1) != 100 || s.Written(2) != 100 {
		t.Fatalf("Last %d, Written %d, want 100", s.Last(1), s.Written(2))
	}
	appendWait(t, s, entry(1, 101, 10, true))
	closeStore(t, s)
}

func TestLockedTwice(t *testing.T) {
	fs := vfs.NewMem()
	s := mustOpen(t, fs, Options{})
	if _, err := Open(fs, testDir, quiet(Options{})); !errors.Is(err, vfs.ErrLocked) {
		t.Fatalf("second Open: %v, want ErrLocked", err)
	}
	if _, err := Inspect(fs, testDir); !errors.Is(err, vfs.ErrLocked) {
		t.Fatalf("Inspect of an open store: %v, want ErrLocked", err)
	}
	closeStore(t, s)
	closeStore(t, mustOpen(t, fs, Options{}))
}

func TestReaderAndBody(t *testing.T) {
	fs := vfs.NewMem()
	s := mustOpen(t, fs, Options{SegmentBytes: 64 << 10})
	const entries = 200
	text := func(index uint64, sub uint32) string {
		return fmt.Sprintf("%d.%d %0*d", index, sub, int(index*7%900), 0)
	}
	for i := uint64(1); i <= entries; i++ {
		appendWait(t, s, Entry{Shard: 1, Index: i, Data: facts(text(i, 0), text(i, 1), text(i, 2))}, entry(2, i, 200, false))
	}
	defer closeStore(t, s)
	r := s.NewReader(1)
	var all [][]byte
	for i := uint64(1); i <= entries; i++ {
		for sub := range uint32(3) {
			got, err := r.Read(i, sub)
			if err != nil || string(got) != text(i, sub) {
				t.Fatalf("Read(%d, %d) = %q, %v", i, sub, got, err)
			}
			all = append(all, got)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		i, sub := 1+rng.Uint64N(entries), rng.Uint32N(3)
		got, err := r.Read(i, sub)
		if err != nil || string(got) != text(i, sub) {
			t.Fatalf("random Read(%d, %d) = %q, %v", i, sub, got, err)
		}
		got, err = s.Body(Pos{1, i, sub}, []byte("x"))
		if err != nil || string(got) != "x"+text(i, sub) {
			t.Fatalf("Body(%d, %d) = %q, %v", i, sub, got, err)
		}
	}
	for n, got := range all { // the returned bytes have not changed
		if want := text(uint64(n/3+1), uint32(n%3)); string(got) != want {
			t.Fatalf("result %d changed to %q, want %q", n, got, want)
		}
	}
	for _, p := range []Pos{{1, entries + 1, 0}, {1, 5, 3}, {9, 1, 0}} {
		if _, err := s.Body(p, nil); !errors.Is(err, ErrNotFound) {
			t.Errorf("Body(%v): %v, want ErrNotFound", p, err)
		}
	}
}

func TestLargeEntry(t *testing.T) {
	fs := vfs.NewMem()
	s := mustOpen(t, fs, Options{SegmentBytes: 64 << 10})
	big := string(bytes.Repeat([]byte("0123456789abcdef"), 300<<10/16))
	appendWait(t, s, entry(1, 1, 10, true))
	appendWait(t, s, Entry{Shard: 1, Index: 2, Data: facts(big, "after"), Wait: WaitSync}, entry(2, 1, 10, true))
	appendWait(t, s, entry(1, 3, 10, true))
	closeStore(t, s)
	s = mustOpen(t, fs, Options{SegmentBytes: 64 << 10})
	defer closeStore(t, s)
	if got, err := s.NewReader(1).Read(2, 0); err != nil || string(got) != big {
		t.Fatalf("big fact: %d bytes, %v", len(got), err)
	}
	if got, err := s.Body(Pos{1, 2, 1}, nil); err != nil || string(got) != "after" {
		t.Fatalf("fact after it: %q, %v", got, err)
	}
	if n := len(replayed(t, s, 1, 0)); n != 4 {
		t.Fatalf("%d facts replayed, want 4", n)
	}
}

func TestCheckpointAndForget(t *testing.T) {
	fs := vfs.NewMem()
	s := mustOpen(t, fs, Options{SegmentBytes: 4 << 10})
	if r, _, err := s.Checkpoint(1); r != nil || err != nil {
		t.Fatalf("Checkpoint of nothing: %v, %v", r, err)
	}
	for i := uint64(1); i <= 100; i++ {
		appendWait(t, s, entry(1, i, 200, true))
	}
	before := s.Stats().Segments
	if err := s.Forget(); err != nil || s.Stats().Segments != before {
		t.Fatalf("Forget without a checkpoint: %v, %d of %d segments left", err, s.Stats().Segments, before)
	}
	for _, index := range []uint64{50, 90} {
		if err := s.WriteCheckpoint(1, index, writeText(fmt.Sprint("state ", index))); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Forget(); err != nil || s.Stats().Segments != before {
		t.Fatalf("Forget with references: %v, %d of %d segments left", err, s.Stats().Segments, before)
	}
	var runs []Run
	for i := uint64(1); i <= 100; i++ {
		if i != 30 {
			runs = append(runs, Run{i, 1})
		}
	}
	s.ReleaseRuns(1, runs)
	if err := s.Forget(); err != nil {
		t.Fatal(err)
	}
	if n := s.Stats().Segments; n >= before-2 || n < 3 {
		t.Fatalf("%d of %d segments left", n, before)
	}
	if _, err := s.Body(Pos{1, 30, 0}, nil); err != nil {
		t.Fatalf("body that is referred to: %v", err)
	}
	if _, err := s.Body(Pos{1, 1, 0}, nil); !errors.Is(err, ErrNotFound) {
		t.Fatalf("forgotten body: %v", err)
	}
	closeStore(t, s)

	s = mustOpen(t, fs, Options{SegmentBytes: 4 << 10})
	defer closeStore(t, s)
	r, index, err := s.Checkpoint(1)
	if err != nil || index != 90 {
		t.Fatalf("Checkpoint: index %d, %v", index, err)
	}
	text, err := io.ReadAll(r)
	r.Close()
	if string(text) != "state 90" || err != nil {
		t.Fatalf("checkpoint holds %q, %v", text, err)
	}
	if got := replayed(t, s, 1, 90); len(got) != 10 {
		t.Fatalf("%d facts after the checkpoint, want 10", len(got))
	}
	if err := s.Replay(1, 0, func(uint64, uint32, []byte) error { return nil }); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("Replay of forgotten entries: %v, want ErrCorrupt", err)
	}
	names, _ := fs.List(testDir)
	if n := len(slices.DeleteFunc(names, func(n string) bool { _, ok := parseCheckpointName(n); return !ok })); n != 1 {
		t.Fatalf("%d checkpoints left, want the newest", n)
	}
}

func TestForgetSyncsWhatSettledFirst(t *testing.T) {
	fs := vfs.NewMem()
	s := mustOpen(t, fs, Options{SegmentBytes: 4 << 10, Sync: SyncOS})
	for i := uint64(1); i <= 40; i++ {
		appendWait(t, s, entry(1, i, 200, false))
	}
	if err := s.WriteCheckpoint(1, 20, writeText("x")); err != nil {
		t.Fatal(err)
	}
	appendWait(t, s, Entry{Shard: 1, Index: 41, Data: facts("settled 1 to 20")})
	for i := uint64(1); i <= 20; i++ {
		s.Release(1, i, 1)
	}
	before := s.Stats().Segments
	if err := s.Forget(); err != nil || s.Stats().Segments >= before {
		t.Fatalf("Forget: %v, %d of %d segments left", err, s.Stats().Segments, before)
	}
	after := mustOpen(t, fs.CrashClone(rand.New(rand.NewPCG(1, 1))), Options{})
	if after.Last(1) != 41 {
		t.Fatalf("bodies are gone, but the settle that let them go is not on disk: last entry %d", after.Last(1))
	}
	closeStore(t, after)
	closeStore(t, s)
}

func TestDamagedCheckpoint(t *testing.T) {
	fs := vfs.NewMem()
	s := mustOpen(t, fs, Options{})
	for i := uint64(1); i <= 10; i++ {
		appendWait(t, s, entry(1, i, 10, true))
	}
	if err := s.WriteCheckpoint(1, 5, writeText("five")); err != nil {
		t.Fatal(err)
	}
	older := readFile(t, fs, checkpointFile{1, 5}.name())
	if err := s.WriteCheckpoint(1, 9, writeText("nine")); err != nil {
		t.Fatal(err)
	}
	flip(t, fs, checkpointFile{1, 9}.name(), checkpointHeader+blockHeader)
	if _, _, err := s.Checkpoint(1); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("only a damaged checkpoint: %v, want ErrCorrupt", err)
	}
	f, err := fs.Create(testDir + "/" + checkpointFile{1, 5}.name())
	if err != nil {
		t.Fatal(err)
	}
	f.WriteAt(older, 0)
	f.Close()
	r, index, err := s.Checkpoint(1)
	if err != nil || index != 5 {
		t.Fatalf("with an older one: index %d, %v", index, err)
	}
	r.Close()
	closeStore(t, s)
}

func TestRewriteUnderReaders(t *testing.T) {
	fs := vfs.NewMem()
	s := mustOpen(t, fs, Options{SegmentBytes: 16 << 10})
	const entries = 200
	for i := uint64(1); i <= entries; i++ {
		a := Entry{Shard: 1, Index: i, Data: facts("dead", factText(1, i, 60), "dead too"), Refs: 3}
		appendWait(t, s, a, entry(2, i, 20, true))
	}
	if err := s.WriteCheckpoint(1, entries, writeText("x")); err != nil {
		t.Fatal(err)
	}
	if err := s.WriteCheckpoint(2, entries, writeText("x")); err != nil {
		t.Fatal(err)
	}
	keep := func(i uint64) bool { return i%5 == 0 }
	for i := uint64(1); i <= entries; i++ {
		s.Release(2, i, 1)
		if keep(i) {
			s.Release(1, i, 2)
		} else {
			s.Release(1, i, 3)
		}
	}
	sparse := s.Sparse(0.5)
	if len(sparse) < 2 {
		t.Fatalf("Sparse: %v", sparse)
	}
	before := s.Stats().Bytes

	stop := make(chan struct{})
	var wg sync.WaitGroup
	check := func(r *Reader, i uint64) {
		got, err := r.Read(i, 1)
		if err != nil || string(got) != factText(1, i, 60) {
			t.Errorf("Read(%d, 1) = %q, %v", i, got, err)
		}
		got, err = s.Body(Pos{1, i, 1}, nil)
		if err != nil || string(got) != factText(1, i, 60) {
			t.Errorf("Body(%d, 1) = %q, %v", i, got, err)
		}
	}
	for range 2 {
		wg.Go(func() {
			for !t.Failed() {
				r := s.NewReader(1)
				for i := uint64(5); i <= entries; i += 5 {
					check(r, i)
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	live := func(shard uint32, lo, hi uint64) (out []Pos, _ error) {
		for i := lo; i <= hi && shard == 1; i++ {
			if keep(i) {
				out = append(out, Pos{1, i, 1})
			}
		}
		return out, nil
	}
	for range 3 { // a rewritten segment can be rewritten
		for _, info := range sparse {
			if err := s.Rewrite(info, live); err != nil {
				t.Fatal(err)
			}
		}
	}
	close(stop)
	wg.Wait()
	if after := s.Stats().Bytes; after > before/2 {
		t.Errorf("%d bytes after, %d before", after, before)
	}
	if left := s.Sparse(0.5); len(left) != 0 {
		t.Errorf("still sparse: %v", left)
	}
	took := s.Histograms()
	if rewrites, checkpoints := took.Rewrite.Count(), took.Checkpoint.Count(); rewrites != uint64(3*len(sparse)) || checkpoints == 0 {
		t.Errorf("%d rewrites of %d were timed, and %d checkpoints", rewrites, 3*len(sparse), checkpoints)
	}
	closeStore(t, s)

	s = mustOpen(t, fs, Options{SegmentBytes: 16 << 10})
	defer closeStore(t, s)
	r := s.NewReader(1)
	for i := uint64(5); i <= entries; i += 5 {
		check(r, i)
	}
	if _, err := s.Body(Pos{1, 1, 1}, nil); !errors.Is(err, ErrNotFound) {
		t.Errorf("cleaned fact: %v", err)
	}
	if _, err := s.Body(Pos{1, 5, 0}, nil); !errors.Is(err, ErrNotFound) {
		t.Errorf("cleaned fact of a kept entry: %v", err)
	}
	if s.Last(2) != entries {
		t.Errorf("Last(2) = %d, want %d", s.Last(2), entries)
	}
}

func TestFullDiskComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem := vfs.NewMem()
		fs := vfs.NewErrors(mem)
		s := mustOpen(t, fs, Options{SegmentBytes: 4 << 10})
		var states []Health
		s.Watch(func(st State) { states = append(states, st.Health) })
		appendWait(t, s, entry(1, 1, 100, true))
		fs.SetFull(true)
		var order []uint64
		for i := uint64(2); i <= 100; i++ { // also across segments
			s.Append([]Entry{entry(1, i, 300, true)}, func(err error) {
				if err != nil {
					t.Errorf("entry %d: %v", i, err)
				}
				order = append(order, i)
			})
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if st := s.State(); st.Health != NoSpace || !errors.Is(st.Err, syscall.ENOSPC) {
			t.Fatalf("state %v", st)
		}
		if len(order) != 0 || s.Pending() == 0 {
			t.Fatalf("done was called for %v on a full disk, %d bytes pending", order, s.Pending())
		}
		fs.SetFull(false)
		s.Retry()
		synctest.Wait()
		if len(order) != 99 || !slices.IsSorted(order) {
			t.Fatalf("done order %v", order)
		}
		if !slices.Equal(states, []Health{NoSpace, Healthy}) {
			t.Fatalf("states %v", states)
		}
		closeStore(t, s)
		s = mustOpen(t, mem, Options{SegmentBytes: 4 << 10})
		if n := len(replayed(t, s, 1, 0)); n != 100 {
			t.Fatalf("%d entries after reopening, want 100", n)
		}
		closeStore(t, s)
	})
}

func TestFullDiskAtEveryWrite(t *testing.T) {
	for k := 1; ; k++ {
		mem := vfs.NewMem()
		fs := vfs.NewErrors(mem)
		s := mustOpen(t, fs, Options{SegmentBytes: 4 << 10})
		opened := fs.Count()
		fs.FailAt(opened+k, syscall.ENOSPC)
		failed := false
		for i := uint64(1); i <= 12 && !failed; i++ {
			s.Retry()
			err := appendErr(s, entry(1, i, 500, true), entry(2, i, 500, true))
			failed = err != nil // the error hit a sync
			if failed && s.State().Health != Failed {
				t.Fatalf("k=%d: entry %d: %v in state %v", k, i, err, s.State())
			}
		}
		done := fs.Count()-opened < k
		s.Close()
		if !failed {
			s = mustOpen(t, mem, Options{SegmentBytes: 4 << 10})
			if n := len(replayed(t, s, 1, 0)); n != 12 {
				t.Fatalf("k=%d: %d entries", k, n)
			}
			closeStore(t, s)
		}
		if done {
			return
		}
	}
}

func TestFailureStops(t *testing.T) {
	for _, tc := range []struct {
		name string
		fail func(*vfs.Errors)
	}{
		{"fsync", func(fs *vfs.Errors) { fs.FailSync(syscall.EIO) }},
		{"write", func(fs *vfs.Errors) { fs.FailAt(fs.Count()+1, syscall.EIO) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			fs := vfs.NewErrors(vfs.NewMem())
			s := mustOpen(t, fs, Options{})
			appendWait(t, s, entry(1, 1, 10, true))
			tc.fail(fs)
			if err := appendErr(s, entry(1, 2, 10, true)); !errors.Is(err, ErrFailed) || !errors.Is(err, syscall.EIO) {
				t.Fatalf("Append: %v, want ErrFailed and EIO", err)
			}
			fs.FailSync(nil)
			count := fs.Count()
			if err := appendErr(s, entry(1, 3, 10, true)); !errors.Is(err, ErrFailed) {
				t.Fatalf("Append after the failure: %v", err)
			}
			if err := s.SyncNow(); !errors.Is(err, ErrFailed) {
				t.Fatalf("SyncNow after the failure: %v", err)
			}
			if fs.Count() != count {
				t.Fatal("something was written after the failure")
			}
			if got, err := s.Body(Pos{1, 1, 0}, nil); err != nil || string(got) != factText(1, 1, 10) {
				t.Fatalf("Body after the failure: %q, %v", got, err)
			}
			if s.Pending() != 0 {
				t.Fatalf("%d bytes pending", s.Pending())
			}
			if err := s.Close(); !errors.Is(err, ErrFailed) {
				t.Fatalf("Close: %v", err)
			}
		})
	}
}

func TestSyncModes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tc := range []struct {
			mode  SyncMode
			wait  Wait
			done  time.Duration
			syncs uint64 // half a second later
		}{
			{SyncAlways, WaitSync, 0, 1},
			{SyncAlways, WaitBatch, 7 * time.Millisecond, 1},
			{SyncAlways, WaitNot, 0, 1},
			{SyncBatch, WaitBatch, 7 * time.Millisecond, 1},
			{SyncOS, WaitNot, 0, 0},
			{SyncOS, WaitBatch, 7 * time.Millisecond, 1},
			{SyncOS, WaitSync, 0, 1},
		} {
			s := mustOpen(t, vfs.NewMem(), Options{Sync: tc.mode, BatchDelay: 7 * time.Millisecond, LazySync: 20 * time.Millisecond})
			start := time.Now()
			e := entry(1, 1, 10, false)
			e.Wait = tc.wait
			written := time.Duration(-1)
			e.Written = func() { written = time.Since(start) }
			appendWait(t, s, e)
			if d := time.Since(start); d != tc.done {
				t.Errorf("mode %d wait %d: done after %s, want %s", tc.mode, tc.wait, d, tc.done)
			}
			if written != 0 {
				t.Errorf("mode %d wait %d: written after %s, want at once", tc.mode, tc.wait, written)
			}
			time.Sleep(time.Second / 2)
			if n := s.Stats().Syncs; n != tc.syncs {
				t.Errorf("mode %d wait %d: %d syncs, want %d", tc.mode, tc.wait, n, tc.syncs)
			}
			if err := s.SyncNow(); err != nil {
				t.Error(err)
			}
			if n := s.Stats().Syncs; n != 1 {
				t.Errorf("mode %d wait %d: %d syncs after SyncNow, want 1", tc.mode, tc.wait, n)
			}
			closeStore(t, s)
		}
	})
}

func TestScratchStartsEmpty(t *testing.T) {
	fs := vfs.NewMem()
	for range 2 {
		s := mustOpen(t, fs, Options{Scratch: true, SegmentBytes: 4 << 10})
		if s.Last(1) != 0 {
			t.Fatalf("Last = %d in a new scratch store", s.Last(1))
		}
		for i := uint64(1); i <= 40; i++ {
			appendWait(t, s, entry(1, i, 300, true))
			if i <= 30 {
				s.Release(1, i, 1)
			}
		}
		n := s.Stats().Segments
		if err := s.Forget(); err != nil || s.Stats().Segments >= n {
			t.Fatalf("Forget: %v, %d of %d segments left", err, s.Stats().Segments, n)
		}
		if _, err := s.Body(Pos{1, 40, 0}, nil); err != nil {
			t.Fatal(err)
		}
		if s.Stats().Syncs != 0 {
			t.Fatalf("%d syncs", s.Stats().Syncs)
		}
		closeStore(t, s)
	}
}

func TestAppendAfterClose(t *testing.T) {
	s := mustOpen(t, vfs.NewMem(), Options{})
	closeStore(t, s)
	if err := appendErr(s, entry(1, 1, 10, true)); !errors.Is(err, ErrClosed) {
		t.Fatalf("Append: %v", err)
	}
	if err := s.SyncNow(); !errors.Is(err, ErrClosed) {
		t.Fatalf("SyncNow: %v", err)
	}
}

// TestRewriteManySmall keeps one body of each segment. The number of files shrinks, the bodies
// stay, and each is copied only a few times.
func TestRewriteManySmall(t *testing.T) {
	const (
		body     = 500
		rounds   = 200
		segments = 128 << 10
	)
	fs := vfs.NewMem()
	s := mustOpen(t, fs, Options{SegmentBytes: segments})
	var kept []uint64
	live := func(shard uint32, lo, hi uint64) (out []Pos, _ error) {
		for _, i := range kept {
			if lo <= i && i <= hi {
				out = append(out, Pos{1, i, 0})
			}
		}
		return out, nil
	}
	last, copied := uint64(0), int64(0)
	for range rounds {
		for range segments / body {
			last++
			appendWait(t, s, entry(1, last, body, false))
			if last%(segments/body) == 1 {
				kept = append(kept, last)
			} else {
				s.Release(1, last, 1)
			}
		}
		if err := s.WriteCheckpoint(1, last, writeText("")); err != nil {
			t.Fatal(err)
		}
		if err := s.Forget(); err != nil {
			t.Fatal(err)
		}
		for _, run := range append(s.Sparse(0.3), s.Small()...) {
			copied += run.Live
			if err := s.Rewrite(run, live); err != nil {
				t.Fatal(err)
			}
		}
	}
	segs, err := readLayout(fs, testDir)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(segs.segments); n > rounds*body/(segments/16)+4*smallRun {
		t.Errorf("%d files for %d bodies of %d bytes", n, rounds, body)
	}
	if copied > 4*rounds {
		t.Errorf("%d bodies were copied %d times", rounds, copied)
	}
	closeStore(t, s)
	s = mustOpen(t, fs, Options{SegmentBytes: segments})
	defer closeStore(t, s)
	for _, i := range kept {
		if got, err := s.Body(Pos{1, i, 0}, nil); err != nil || string(got) != factText(1, i, body) {
			t.Fatalf("body %d: %d bytes, %v", i, len(got), err)
		}
	}
}
