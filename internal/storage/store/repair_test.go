package store

import (
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/storage/vfs"
	"fiveways.dev/fiveways/internal/storage/wal"
)

// TestRepairWithoutCheckpoint damages the only checkpoint of a shard whose older entries were
// deleted or cleaned. The repair takes no more space for many missing entries than for few, and
// what is left of the log is replayed.
func TestRepairWithoutCheckpoint(t *testing.T) {
	const entries, body = 3000, 100
	for name, kept := range map[string][]uint64{
		"older entries deleted": nil,
		"older entries cleaned": {3, 4, 500, 501, 1500},
	} {
		t.Run(name, func(t *testing.T) {
			fs := vfs.NewMem()
			o := Options{SegmentBytes: 16 << 10}
			s := mustOpen(t, fs, o)
			var group []Entry
			for i := uint64(1); i <= entries; i++ {
				group = append(group, entry(1, i, body, false))
			}
			for part := range slices.Chunk(group, 10) {
				appendWait(t, s, part...)
			}
			for i := uint64(1); i <= entries; i++ {
				if !slices.Contains(kept, i) {
					s.Release(1, i, 1)
				}
			}
			must(t, s.WriteCheckpoint(1, entries, writeText("state")))
			must(t, s.Forget())
			for _, run := range s.Sparse(0.5) {
				must(t, s.Rewrite(run, func(shard uint32, lo, hi uint64) (out []Pos, _ error) {
					for _, i := range kept {
						if lo <= i && i <= hi {
							out = append(out, Pos{shard, i, 0})
						}
					}
					return out, nil
				}))
			}
			appendWait(t, s, entry(1, entries+1, body, true))
			closeStore(t, s)
			flip(t, fs, checkpointFile{1, entries}.name(), 40)

			before, err := Repair(fs, testDir)
			must(t, err)
			missing := uint64(0)
			for _, m := range before.Missing {
				missing += m.Last - m.First + 1
			}
			after, err := Inspect(fs, testDir)
			must(t, err)
			if len(after.Damage)+len(after.Missing) > 0 {
				t.Fatalf("after the repair: %+v", after)
			}
			size := func(r Report) (n int64) {
				for _, seg := range r.Segments {
					n += seg.Bytes
				}
				return n
			}
			if grown := size(after) - size(before); grown > 1<<10 {
				t.Errorf("the log grew by %d bytes", grown)
			}
			s = mustOpen(t, fs, o)
			defer closeStore(t, s)
			facts := replayed(t, s, 1, 0)
			if len(facts) < len(kept)+1 || missing+uint64(len(facts)) != entries+1 || s.Last(1) != entries+1 {
				t.Errorf("%d entries missing, %d replayed, last %d", missing, len(facts), s.Last(1))
			}
			for _, i := range kept {
				if got, err := s.Body(Pos{1, i, 0}, nil); err != nil || string(got) != factText(1, i, body) {
					t.Errorf("body %d: %q, %v", i, got, err)
				}
			}
			appendWait(t, s, entry(1, entries+2, body, true))
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestRepairTwice damages one segment again after its repair. The copies of both stay.
func TestRepairTwice(t *testing.T) {
	fs := vfs.NewMem()
	s := mustOpen(t, fs, Options{SegmentBytes: 4 << 10})
	for i := uint64(1); i <= 40; i++ {
		appendWait(t, s, entry(1, i, 300, true))
	}
	closeStore(t, s)
	name := wal.SegmentName(1)
	var hurt [][]byte
	for range 3 {
		flip(t, fs, name, 1000)
		hurt = append(hurt, readFile(t, fs, name))
		_, err := Repair(fs, testDir)
		must(t, err)
	}
	for i, copied := range []string{name + ".damaged", name + ".2.damaged", name + ".3.damaged"} {
		if !slices.Equal(readFile(t, fs, copied), hurt[i]) {
			t.Errorf("%s is not the segment before repair %d", copied, i+1)
		}
	}
}
