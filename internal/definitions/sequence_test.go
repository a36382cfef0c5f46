package definitions

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// Concurrent callers get unique numbers, over many blocks, and a second run continues after them.
func TestSequenceGivesEachNumberOnce(t *testing.T) {
	fs := vfs.NewMem()
	var all []int64
	for run := range 2 {
		b := openNode(t, fs)
		var mu sync.Mutex
		var wg sync.WaitGroup
		for worker := range 8 {
			wg.Go(func() {
				var mine []int64
				for i := range 3000 {
					n := 1 + (i*worker)%5
					first, err := b.Sequence("s", n)
					if err != nil {
						t.Error(err)
						return
					}
					for k := range int64(n) {
						mine = append(mine, first+k)
					}
				}
				mu.Lock()
				defer mu.Unlock()
				all = append(all, mine...)
			})
		}
		wg.Wait()
		if run == 0 {
			must(t, b.checkpoint())
		}
		if first, err := b.Sequence("other", 100_000); err != nil || run == 0 && first != 1 {
			t.Errorf("another sequence begins at %d, %v", first, err)
		}
		mustClose(t, b)
	}
	slices.Sort(all)
	if len(slices.Compact(slices.Clone(all))) != len(all) || all[0] != 1 {
		t.Error("a number was given twice, or not the first one")
	}
}

// Within one run the numbers have no gaps.
func TestSequenceIsDense(t *testing.T) {
	b := openNode(t, vfs.NewMem())
	for want := int64(1); want < 5*sequenceBlock; want += 7 {
		if got, err := b.Sequence("s", 7); got != want || err != nil {
			t.Fatalf("got %d, %v, want %d", got, err, want)
		}
	}
	mustClose(t, b)
}

// After a power failure at any operation no number is given again.
func TestSequenceAfterACrash(t *testing.T) {
	for k := 1; ; k++ {
		mem := vfs.NewMem()
		fs := vfs.NewErrors(mem)
		fs.CrashAt(k)
		given := int64(0)
		if b, err := tryOpen(fs); err == nil {
			for i := range 30 {
				first, err := b.Sequence("s", sequenceBlock/3)
				if err != nil {
					break
				}
				given = first + sequenceBlock/3 - 1
				if i%10 == 9 && b.checkpoint() != nil {
					break
				}
			}
			b.Close()
		}
		b := openNode(t, mem.CrashClone(rand.New(rand.NewPCG(uint64(k), 1))))
		if first, err := b.Sequence("s", 1); err != nil || first <= given {
			t.Fatalf("crash at operation %d: got %d after %d, %v", k, first, given, err)
		}
		mustClose(t, b)
		if !fs.Crashed() {
			if given == 0 {
				t.Fatal("nothing was given")
			}
			return
		}
	}
}
