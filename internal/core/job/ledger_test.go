package job

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/core/queue"
)

// twin is a ledger as two lists.
type twin struct {
	leases []Lease
	done   []Done
}

func (w *twin) lease(h queue.Handle) *Lease {
	for i := range w.leases {
		if w.leases[i].Handle == h {
			return &w.leases[i]
		}
	}
	return nil
}

func (w *twin) forget(id string) {
	w.done = slices.DeleteFunc(w.done, func(d Done) bool { return d.ID == id })
}

// TestFirstVersionIsRestored checks that a ledger without the byte behind the version is restored
// as used for jobs.
func TestFirstVersionIsRestored(t *testing.T) {
	first := []byte{1, 9, 1, 5, 7, 100, 1, 50, 2, 3, 1, 'a'}
	b := NewLedger()
	if err := b.Restore(first); err != nil {
		t.Fatal(err)
	}
	if l := b.Leased(5); l == nil || l.Number != 7 || l.Until != 100 || !b.Used || b.Next() != 10 || b.Remembered([]byte("a")) == nil {
		t.Fatalf("restored %+v with lease %+v", b, l)
	}
	if got, want := b.AppendTo(nil), append([]byte{2, 1}, first[1:]...); !slices.Equal(got, want) {
		t.Errorf("it is written as %v, want %v", got, want)
	}
}

// TestUsedSurvives checks that an empty ledger is equivalent to none, unless the queue was used for
// jobs.
func TestUsedSurvives(t *testing.T) {
	b := NewLedger()
	b.Lease(5, 1, 1, 100, false)
	if b.Hash() != 0 {
		t.Error("what does not survive is in the hash")
	}
	for _, used := range []bool{false, true} {
		b.Used = used
		again := NewLedger()
		if err := again.Restore(b.AppendTo(nil)); err != nil || again.Used != used || again.Hash() != b.Hash() || (b.Hash() != 0) != used {
			t.Errorf("used %v is restored as %v, hashes %x and %x: %v", used, again.Used, b.Hash(), again.Hash(), err)
		}
	}
	if NewLedger().Restore([]byte{ledgerVersion, 2, 0, 0, 0}) == nil {
		t.Error("a ledger was taken that is used twice over")
	}
}

// TestTwin compares a Ledger with two lists after random operations, with snapshots in between.
func TestTwin(t *testing.T) {
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 3))
		b, w := NewLedger(), &twin{}
		b.Used = seed%2 == 1
		now := int64(1000)
		for step := range 3000 {
			h := queue.Handle(1 + rng.IntN(40))
			id := fmt.Sprint("id", rng.IntN(20))
			switch op := rng.IntN(12); op {
			case 0, 1:
				n, until, logged := 1+rng.IntN(3), now+rng.Int64N(200), rng.IntN(5) > 0
				number := b.Next()
				for i := range n {
					if l := b.Leased(h + queue.Handle(i)); l != nil && l.Ended {
						n = i // the message is being removed
						break
					}
				}
				b.Lease(h, n, number, until, logged)
				for i := range n {
					h := h + queue.Handle(i)
					l := w.lease(h)
					if l == nil {
						w.leases = append(w.leases, Lease{Handle: h})
						l = w.lease(h)
					}
					l.Number, l.Until, l.Logged = number+uint64(i), until, logged
				}
			case 2, 3:
				n := 1 + rng.IntN(3)*rng.IntN(50)
				b.End(h, n)
				w.leases = slices.DeleteFunc(w.leases, func(l Lease) bool { return l.Handle >= h && l.Handle < h+queue.Handle(n) })
			case 4:
				b.Finish(h)
				if l := w.lease(h); l != nil {
					l.Ended = true
				}
			case 5, 6:
				d := Done{ID: id, Until: now + rng.Int64N(200), Attempts: rng.Uint32N(4), First: rng.Int64N(50), Logged: rng.IntN(5) > 0}
				b.Remember(&d)
				w.forget(id)
				w.done = append(w.done, d)
			case 7:
				d := Done{ID: id, Until: now, Attempts: 1}
				b.Mention(&d)
				w.forget(id)
				w.done = append(w.done, d)
			case 8:
				b.Forget(id)
				w.forget(id)
			case 9:
				now += rng.Int64N(60)
				told := map[string]bool{}
				b.ForgetPassed(now, func(d *Done) { told[d.ID] = true })
				w.done = slices.DeleteFunc(w.done, func(d Done) bool {
					if d.Until <= now && d.Logged != told[d.ID] {
						t.Fatalf("seed %d step %d: %q was told: %v", seed, step, d.ID, told[d.ID])
					}
					return d.Until <= now
				})
			case 10:
				if rng.IntN(10) > 0 {
					break
				}
				again := NewLedger()
				if err := again.Restore(b.AppendTo(nil)); err != nil {
					t.Fatal(err)
				}
				if again.Hash() != b.Hash() || again.last != b.last {
					t.Fatalf("seed %d step %d: a restored ledger differs", seed, step)
				}
				b = again
				w.leases = slices.DeleteFunc(w.leases, func(l Lease) bool { return !l.Logged })
				for i := range w.leases {
					w.leases[i].Ended = false
				}
				w.done = slices.DeleteFunc(w.done, func(d Done) bool { return !d.Logged })
			}
			w.same(t, b, now)
		}
	}
}

func (w *twin) same(t *testing.T, b *Ledger, now int64) {
	t.Helper()
	end, until, logged, waiting := int64(Never), now, 0, 0
	for _, l := range w.leases {
		got := b.Leased(l.Handle)
		if got == nil || got.Number != l.Number || got.Until != l.Until || got.Logged != l.Logged || got.Ended != l.Ended {
			t.Fatalf("lease %+v, want %+v", got, l)
		}
		if !l.Ended {
			end = min(end, l.Until)
		}
		if l.Logged {
			logged++
		}
	}
	if b.Leases() != len(w.leases) || b.LoggedLeases() != logged || b.NextEnd() != end {
		t.Fatalf("%d leases, %d logged, next end %d; want %d, %d, %d", b.Leases(), b.LoggedLeases(), b.NextEnd(), len(w.leases), logged, end)
	}
	if l := b.Over(now); (l != nil) != (end <= now) || l != nil && l.Until != end {
		t.Fatalf("over is %+v at %d", l, now)
	}
	for _, d := range w.done {
		got := b.Remembered([]byte(d.ID))
		if got == nil || got.Until != d.Until || got.Attempts != d.Attempts || got.First != d.First || got.Logged != d.Logged {
			t.Fatalf("remembered %+v, want %+v", got, d)
		}
		if d.Until > until {
			waiting++
		}
	}
	if b.RememberedIDs() != len(w.done) || b.InBackoff(now) != waiting {
		t.Fatalf("%d ids, %d in backoff, want %d, %d", b.RememberedIDs(), b.InBackoff(now), len(w.done), waiting)
	}
	var ids []string
	from := uint64(0)
	for {
		page := b.DoneFrom(from, 3)
		for _, d := range page {
			ids, from = append(ids, d.ID), d.Number+1
		}
		if len(page) < 3 {
			break
		}
	}
	if !slices.EqualFunc(ids, w.done, func(id string, d Done) bool { return id == d.ID }) {
		t.Fatalf("in pages %q, want %+v", ids, w.done)
	}
}

// TestMentionedAreBounded checks that the number of mentioned ids is bounded, and that remembered
// ones stay.
func TestMentionedAreBounded(t *testing.T) {
	b := NewLedger()
	b.Remember(&Done{ID: "kept", Until: 1 << 40, Logged: true})
	for i := range 5 * maxMentioned {
		b.Mention(&Done{ID: fmt.Sprint(i), Until: 1})
	}
	if n := b.RememberedIDs(); n > 2*maxMentioned+1 || n < maxMentioned {
		t.Fatalf("%d ids are remembered", n)
	}
	if b.Remembered([]byte("kept")) == nil || b.Remembered(fmt.Append(nil, 5*maxMentioned-1)) == nil || b.Remembered([]byte("0")) != nil {
		t.Fatal("the wrong ids are remembered")
	}
	b.Clear()
	if b.RememberedIDs() != 0 {
		t.Fatal("a cleared ledger remembers")
	}
}

// TestRestoreRefuses checks that Restore refuses bytes that are not a ledger.
func TestRestoreRefuses(t *testing.T) {
	b := NewLedger()
	b.Lease(5, 3, 1, 100, true)
	b.Remember(&Done{ID: "a", Until: 7, Logged: true})
	whole := b.AppendTo(nil)
	for n := range whole {
		if again := NewLedger(); again.Restore(whole[:n]) == nil {
			t.Fatalf("%d of %d bytes were taken", n, len(whole))
		} else if again.Leases()+again.RememberedIDs() > 0 {
			t.Fatal("something is left of a ledger that was refused")
		}
	}
	if NewLedger().Restore(append(slices.Clone(whole), 0)) == nil {
		t.Fatal("a byte too many was taken")
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 20_000 {
		bad := slices.Clone(whole)
		bad[rng.IntN(len(bad))] = byte(rng.Uint32())
		again := NewLedger()
		if again.Restore(bad) == nil { // then it must be a valid ledger
			next := NewLedger()
			if err := next.Restore(again.AppendTo(nil)); err != nil || next.Hash() != again.Hash() {
				t.Fatalf("%x: %v", bad, err)
			}
		}
	}
}

// TestKeys checks that keys of different ids differ, and that a key is never zero.
func TestKeys(t *testing.T) {
	k := NewKeys()
	seen := map[Key]bool{{}: true}
	for i := range 10_000 {
		key := k.Of(fmt.Append(nil, i))
		if seen[key] || key != k.Of(fmt.Append(nil, i)) {
			t.Fatal(i)
		}
		seen[key] = true
	}
	if seen[k.Of(nil)] {
		t.Fatal("no id")
	}
}

// TestManyRemembered checks that pages of many ids take no longer than those of few, and that
// forgotten ids leave nothing behind.
func TestManyRemembered(t *testing.T) {
	b := NewLedger()
	const n = 100_000
	for i := range n {
		b.Remember(&Done{ID: fmt.Sprint(i), Until: int64(1 + i), Logged: true})
	}
	looks := testing.AllocsPerRun(10, func() {
		if page := b.DoneFrom(n/2, 10); len(page) != 10 || page[0].Number != n/2 {
			t.Fatalf("%d ids", len(page))
		}
	})
	if looks > 1 {
		t.Errorf("a page takes %v allocations", looks)
	}
	b.ForgetPassed(n, func(*Done) {})
	if b.RememberedIDs() != 0 || len(b.order) > slackOrder {
		t.Errorf("%d ids are remembered, %d places are kept", b.RememberedIDs(), len(b.order))
	}
}
