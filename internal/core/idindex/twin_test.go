package idindex

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/core/queue"
)

// TestTwin compares the table with a list. The number of ids grows and shrinks, and some ids are
// shared by many messages.
func TestTwin(t *testing.T) {
	type known struct {
		id string
		h  queue.Handle
	}
	for seed := range uint64(6) {
		rng := rand.New(rand.NewPCG(seed, 9))
		table := New()
		var list []known // youngest first for each id, including some that are gone
		dead := map[queue.Handle]bool{}
		gone := func(en *Entry) bool { return dead[en.Handle] }
		next := queue.Handle(1)
		pick := func() string { return fmt.Sprint(rng.IntN(1 + rng.IntN(3000))) }
		for step := range 12000 {
			switch op := rng.IntN(10); {
			case op < 5 || step < 3000:
				id := pick()
				table.Add(SumOf([]byte(id)), uint32(next%7), next)
				list = slices.Insert(list, 0, known{id, next})
				next++
			case len(list) > 0:
				i := rng.IntN(len(list))
				dead[list[i].h] = true
				table.Clean(2, gone)
			}
			if step%1000 == 999 && rng.IntN(3) == 0 {
				list = slices.DeleteFunc(list, func(k known) bool { return dead[k.h] })
				table = table.rebuilt(gone)
				if table.Len() != len(list) {
					t.Fatalf("seed %d, step %d: %d entries, want %d", seed, step, table.Len(), len(list))
				}
			}
			id := pick()
			var want, got []queue.Handle
			for _, k := range list {
				if k.id == id && !dead[k.h] {
					want = append(want, k.h)
				}
			}
			for e := table.First(SumOf([]byte(id))); e != 0; e = table.Next(e) {
				if en := table.Entry(e); !dead[en.Handle] {
					got = append(got, en.Handle)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d, step %d: %q is at %v, want %v", seed, step, id, got, want)
			}
		}
	}
}
