package idindex

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/core/queue"
)

// TestTwin compares the table with a list. The number of messages grows and shrinks, and some ids
// are shared by many. Now and then the table is tidied, a part of the work at a time.
func TestTwin(t *testing.T) {
	type known struct {
		id string
		h  queue.Handle
	}
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 9))
		table := New()
		var list []known // youngest first for each id, including some that are gone
		dead := map[queue.Handle]bool{}
		gone := func(en *Entry) bool { return dead[en.Handle] }
		shrunk := 0
		next := queue.Handle(1)
		pick := func() string { return fmt.Sprint(rng.IntN(1 + rng.IntN(3000))) }
		for step := range 40000 {
			grows := step%20000 < 10000
			switch op := rng.IntN(10); {
			case op < 5 && (grows || op == 0):
				for range 3 {
					id := pick()
					table.Add(SumOf([]byte(id)), uint32(next%7), next)
					list = slices.Insert(list, 0, known{id, next})
					next++
				}
			case len(list) > 100 && (!grows || op == 9):
				i := rng.IntN(len(list) - 1)
				dead[list[i].h], dead[list[i+1].h] = true, true
				list = slices.Delete(list, i, i+2)
				if op == 9 {
					table.Clean(2, gone)
				}
			}
			if rng.IntN(100) == 0 {
				table.Tidy(len(list), gone)
			}
			if table.limit < table.made {
				shrunk++
			}
			if step%1000 == 999 && rng.IntN(3) == 0 {
				for table.Tidy(len(list), gone) {
				}
				if most := 8 * (len(list) + Slack); table.Len() > most/4 || table.Room() > most+entryPage || len(table.buckets)*bucketPage > most {
					t.Fatalf("seed %d, step %d: %d entries, room for %d and %d buckets for %d messages",
						seed, step, table.Len(), table.Room(), table.n, len(list))
				}
			}
			id := pick()
			var want, got []queue.Handle
			for _, k := range list {
				if k.id == id {
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
		if shrunk < 100 {
			t.Errorf("seed %d: the table was shrinking in %d steps only", seed, shrunk)
		}
	}
}

// TestSteps drains large tables in several orders. Each call of Tidy does a small part of the work,
// and in the end little memory is left.
func TestSteps(t *testing.T) {
	const many, few = 300_000, 1000
	for name, stays := range map[string]func(h queue.Handle) bool{
		"oldest first": func(h queue.Handle) bool { return h > many-few },
		"newest first": func(h queue.Handle) bool { return h <= few },
		"at random":    func(h queue.Handle) bool { return h%(many/few) == 7 },
	} {
		t.Run(name, func(t *testing.T) {
			table := New()
			sum := func(h queue.Handle) Sum { return SumOf(binary.BigEndian.AppendUint64(nil, uint64(h))) }
			for h := queue.Handle(1); h <= many; h++ {
				table.Add(sum(h), 0, h)
			}
			looks := 0
			gone := func(en *Entry) bool { looks++; return !stays(en.Handle) }
			most, more := 0, true
			for more {
				looks = 0
				more = table.Tidy(few, gone)
				most = max(most, looks)
			}
			if most > 3*tidyStep || table.Room() > 8*(few+Slack) || len(table.buckets)*bucketPage > 8*(few+Slack) {
				t.Errorf("%d looks in a step; room for %d, %d buckets", most, table.Room(), table.n)
			}
			for h := queue.Handle(1); h <= many; h++ {
				if e := table.First(sum(h)); stays(h) && (e == 0 || table.Entry(e).Handle != h) {
					t.Fatalf("message %d is missing", h)
				}
			}
		})
	}
}
