package store

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/storage/vfs"
	"fiveways.dev/fiveways/internal/storage/wal"
)

func readFile(t *testing.T, fs vfs.FS, name string) []byte {
	t.Helper()
	f, err := fs.Open(testDir + "/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size, _ := f.Size()
	b := make([]byte, size)
	if _, err := f.ReadAt(b, 0); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	return b
}

func writeFile(t *testing.T, fs vfs.FS, name string, b []byte) {
	t.Helper()
	f, err := fs.Create(testDir + "/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(b, 0); err != nil {
		t.Fatal(err)
	}
}

func flip(t *testing.T, fs vfs.FS, name string, at int) {
	t.Helper()
	b := readFile(t, fs, name)
	b[at] ^= 0x10
	writeFile(t, fs, name, b)
}

func freshDir(t *testing.T) *vfs.Mem {
	t.Helper()
	fs := vfs.NewMem()
	if err := fs.MkdirAll(testDir); err != nil {
		t.Fatal(err)
	}
	return fs
}

// TestTornTail cuts the last segment at every offset of its last frames, and overwrites the rest
// with zeros.
func TestTornTail(t *testing.T) {
	mem := vfs.NewMem()
	s := mustOpen(t, mem, Options{})
	var ends []int64 // of the file after each group
	for i := uint64(1); i <= 4; i++ {
		appendWait(t, s, entry(1, i, 30, true))
		ends = append(ends, s.Stats().Bytes)
	}
	appendWait(t, s, entry(1, 5, 40, true), entry(2, 1, 40, true), entry(1, 6, 40, true))
	ends = append(ends, s.Stats().Bytes)
	closeStore(t, s)
	name := wal.SegmentName(1)
	whole := readFile(t, mem, name)
	for cut := ends[1]; cut <= int64(len(whole)); cut++ {
		for _, zeros := range []int{0, 1, 5000} {
			fs := freshDir(t)
			writeFile(t, fs, name, append(slices.Clone(whole[:cut]), make([]byte, zeros)...))
			s := mustOpen(t, fs, Options{})
			want := uint64(0)
			for i, end := range ends {
				if end <= cut {
					want = uint64(i + 1)
				}
			}
			if want == 5 {
				want = 6 // the group has two entries of shard 1
			}
			if got := replayed(t, s, 1, 0); uint64(len(got)) != want || s.Last(1) != want {
				t.Fatalf("cut at %d and %d zeros: %d entries, want %d", cut, zeros, len(got), want)
			}
			if got := len(replayed(t, s, 2, 0)); (got == 1) != (want == 6) {
				t.Fatalf("cut at %d: half of a group is there", cut)
			}
			appendWait(t, s, entry(1, want+1, 10, true))
			closeStore(t, s)
			s = mustOpen(t, fs, Options{})
			if s.Last(1) != want+1 {
				t.Fatalf("cut at %d: the entry after the cut is lost", cut)
			}
			closeStore(t, s)
		}
	}
}

// TestBitFlips changes every byte in turn. Damage to data that was durable when a later frame was
// written is reported, never dropped.
func TestBitFlips(t *testing.T) {
	mem := vfs.NewMem()
	s := mustOpen(t, mem, Options{})
	for i := uint64(1); i <= 3; i++ {
		appendWait(t, s, entry(1, i, 30, true))
	}
	synced := int(s.Stats().Bytes)
	appendWait(t, s, entry(1, 4, 30, true))
	closeStore(t, s)
	name := wal.SegmentName(1)
	whole := readFile(t, mem, name)
	for at := range whole {
		fs := freshDir(t)
		b := slices.Clone(whole)
		b[at] ^= 1 << (at % 8)
		writeFile(t, fs, name, b)
		s, err := Open(fs, testDir, quiet(Options{}))
		if at >= synced {
			if err != nil || s.Last(1) != 3 {
				t.Fatalf("flip at %d of the last frame: %v", at, err)
			}
			closeStore(t, s)
			continue
		}
		if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "offset") {
			t.Fatalf("flip at %d: %v, want ErrCorrupt naming the file and the offset", at, err)
		}
	}
}

func TestDamagedSealedSegment(t *testing.T) {
	mem := vfs.NewMem()
	s := mustOpen(t, mem, Options{SegmentBytes: 4 << 10})
	for i := uint64(1); i <= 40; i++ {
		appendWait(t, s, entry(1, i, 300, true))
	}
	closeStore(t, s)
	name := wal.SegmentName(1)
	whole := readFile(t, mem, name)
	for at := range whole {
		fs := mem.CrashClone(rand.New(rand.NewPCG(1, 1)))
		flip(t, fs, name, at)
		s, err := Open(fs, testDir, quiet(Options{}))
		if err == nil {
			err = s.Replay(1, 0, func(uint64, uint32, []byte) error { return nil })
			s.Close()
		}
		if !errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), name) {
			t.Fatalf("flip at %d: %v, want ErrCorrupt naming the file", at, err)
		}
	}
}

// TestCrashAtEveryOperation crashes the machine at every operation that changes the disk.
// Everything confirmed must survive.
func TestCrashAtEveryOperation(t *testing.T) {
	points := 0
	from, to := crashSeeds(t, 3)
	for seed := from; seed < to; seed++ {
		for k := 1; ; k++ {
			points++
			mem := vfs.NewMem()
			fs := vfs.NewErrors(mem)
			fs.CrashAt(k)
			w := &crashWorkload{rng: rand.New(rand.NewPCG(seed, 0))}
			w.run(fs)
			for n := range uint64(3) {
				w.check(t, mem.CrashClone(rand.New(rand.NewPCG(seed, n))), fmt.Sprintf("seed %d crash at %d clone %d", seed, k, n))
			}
			if !fs.Crashed() {
				break
			}
		}
	}
	t.Logf("%d crashes", points)
}

// crashWorkload appends groups to two shards, settles what it published, writes checkpoints, cleans
// and forgets.
type crashWorkload struct {
	rng       *rand.Rand
	last      [3]uint64
	confirmed [3]uint64
	live      map[Pos]bool // published, confirmed, never settled
}

// crashKept reports whether the body of an entry is never settled: every seventh. The others are
// settled four entries later.
func crashKept(index uint64) bool { return index%7 == 0 }

func (w *crashWorkload) run(fs vfs.FS) {
	w.live = map[Pos]bool{}
	s, err := Open(fs, testDir, quiet(Options{SegmentBytes: 4 << 10}))
	if err != nil {
		return
	}
	defer s.Close()
	for range 25 {
		var group []Entry
		for n := 1 + w.rng.IntN(3); n > 0; n-- {
			shard := uint32(1 + w.rng.IntN(2))
			w.last[shard]++
			group = append(group, entry(shard, w.last[shard], 1+w.rng.IntN(600), w.rng.IntN(4) > 0))
		}
		wait := slices.ContainsFunc(group, func(e Entry) bool { return e.Wait != WaitNot })
		if appendErr(s, group...) != nil {
			return
		}
		for _, e := range group {
			if wait {
				w.confirmed[e.Shard] = e.Index
				if crashKept(e.Index) {
					w.live[Pos{e.Shard, e.Index, 0}] = true
				}
			}
			if e.Index > 4 && !crashKept(e.Index-4) {
				s.Release(e.Shard, e.Index-4, 1)
			}
		}
		switch w.rng.IntN(5) {
		case 0:
			shard := uint32(1 + w.rng.IntN(2))
			if i := w.last[shard]; i > 0 {
				s.WriteCheckpoint(shard, i, writeText(fmt.Sprint(i)))
			}
		case 1:
			s.Forget()
		case 2:
			w.rewrite(s, s.Sparse(1))
		case 3: // adjacent segments, like the runs of Small
			for shard := uint32(1); shard <= 2; shard++ {
				if i := w.last[shard]; i > 0 {
					s.WriteCheckpoint(shard, i, writeText(fmt.Sprint(i)))
				}
			}
			s.mu.Lock()
			run := SegmentRun{First: s.segments[0].number, Last: s.segments[len(s.segments)-1].number - 1}
			s.mu.Unlock()
			w.rewrite(s, []SegmentRun{run})
		}
	}
}

func (w *crashWorkload) rewrite(s *Store, runs []SegmentRun) {
	for _, run := range runs {
		s.Rewrite(run, func(shard uint32, lo, hi uint64) (out []Pos, _ error) {
			for i := lo; i <= hi; i++ {
				if crashKept(i) || i+4 > w.last[shard] {
					out = append(out, Pos{shard, i, 0})
				}
			}
			return out, nil
		})
	}
}

func (w *crashWorkload) check(t *testing.T, fs *vfs.Mem, when string) {
	t.Helper()
	s, err := Open(fs, testDir, quiet(Options{SegmentBytes: 4 << 10}))
	if err != nil {
		t.Fatalf("%s: Open: %v", when, err)
	}
	defer s.Close()
	for shard := uint32(1); shard <= 2; shard++ {
		r, from, err := s.Checkpoint(shard)
		if err != nil {
			t.Fatalf("%s: Checkpoint: %v", when, err)
		}
		if r != nil {
			text, err := io.ReadAll(r)
			r.Close()
			if err != nil || string(text) != fmt.Sprint(from) {
				t.Fatalf("%s: checkpoint %d holds %q, %v", when, from, text, err)
			}
		}
		next := from + 1
		err = s.Replay(shard, from, func(index uint64, _ uint32, fact []byte) error {
			if index != next || !strings.HasPrefix(string(fact), fmt.Sprintf("f%d/%d", shard, index)) {
				return fmt.Errorf("entry %d holds %q, want entry %d", index, fact, next)
			}
			next++
			return nil
		})
		if err != nil {
			t.Fatalf("%s: shard %d: %v", when, shard, err)
		}
		if next <= w.confirmed[shard] {
			t.Fatalf("%s: shard %d ends at %d, confirmed up to %d", when, shard, next-1, w.confirmed[shard])
		}
	}
	for p := range w.live {
		if _, err := s.Body(p, nil); err != nil {
			t.Fatalf("%s: body %v: %v", when, p, err)
		}
	}
}

func TestInspectAndRepair(t *testing.T) {
	mem := vfs.NewMem()
	s := mustOpen(t, mem, Options{SegmentBytes: 4 << 10})
	for i := uint64(1); i <= 40; i++ {
		appendWait(t, s, entry(1, i, 300, true))
	}
	closeStore(t, s)
	clean, err := Inspect(mem, testDir)
	if err != nil || len(clean.Damage) != 0 || len(clean.Missing) != 0 || len(clean.Segments) < 3 || !clean.Segments[0].Sealed {
		t.Fatalf("clean store: %+v, %v", clean, err)
	}
	lastName := wal.SegmentName(clean.Segments[len(clean.Segments)-1].Number)
	for _, tc := range []struct {
		name string
		hurt func(fs *vfs.Mem)
		lost int // entries
		torn bool
	}{
		{"one frame of a sealed segment", func(fs *vfs.Mem) { flip(t, fs, wal.SegmentName(2), 1000) }, 1, false},
		{"last frame of a sealed segment", func(fs *vfs.Mem) {
			b := readFile(t, fs, wal.SegmentName(1))
			at, _ := wal.DecodeTrailer(b[len(b)-wal.TrailerSize:], saltOf(t, b, 1))
			flip(t, fs, wal.SegmentName(1), int(at)-5)
		}, 1, false},
		{"footer", func(fs *vfs.Mem) {
			b := readFile(t, fs, wal.SegmentName(1))
			flip(t, fs, wal.SegmentName(1), len(b)-3)
		}, 0, false},
		{"header", func(fs *vfs.Mem) { flip(t, fs, wal.SegmentName(1), 3) }, int(clean.Segments[0].Shards[0].Entries), false},
		{"whole file", func(fs *vfs.Mem) { fs.Remove(testDir + "/" + wal.SegmentName(2)) }, int(clean.Segments[1].Shards[0].Entries), false},
		{"torn end", func(fs *vfs.Mem) {
			b := readFile(t, fs, lastName)
			writeFile(t, fs, lastName, append(b, 1, 2, 3))
		}, 0, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			fs := mem.CrashClone(rand.New(rand.NewPCG(1, 1)))
			tc.hurt(fs)
			report, err := Repair(fs, testDir)
			if err != nil {
				t.Fatal(err)
			}
			lost := 0
			for _, r := range report.Missing {
				lost += int(r.Last - r.First + 1)
			}
			if lost != tc.lost {
				t.Fatalf("%d entries reported missing, want %d: %+v", lost, tc.lost, report)
			}
			if tc.torn != (len(report.Damage) == 1 && report.Damage[0].Torn) {
				t.Fatalf("damage: %v", report.Damage)
			}
			again, err := Inspect(fs, testDir)
			if err != nil || len(again.Damage) != 0 || len(again.Missing) != 0 {
				t.Fatalf("after the repair: %+v, %v", again, err)
			}
			s := mustOpen(t, fs, Options{SegmentBytes: 4 << 10})
			defer closeStore(t, s)
			if got := len(replayed(t, s, 1, 0)); got != 40-tc.lost || s.Last(1) != 40 {
				t.Fatalf("%d entries replayed, last %d", got, s.Last(1))
			}
			appendWait(t, s, entry(1, 41, 10, true))
		})
	}
}

func saltOf(t *testing.T, b []byte, number uint64) uint32 {
	t.Helper()
	salt, err := wal.DecodeSegmentHeader(b, number)
	if err != nil {
		t.Fatal(err)
	}
	return salt
}
