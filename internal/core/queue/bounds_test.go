package queue

import (
	"math/rand/v2"
	"testing"
)

// TestRowStaysShort passes messages by stragglers: removed messages must not be remembered.
func TestRowStaysShort(t *testing.T) {
	s := new(State)
	stragglers := 0
	for i := range 1_000_000 {
		s.Publish(&Item{Flags: Persistent})
		h := s.Next(0).Handle
		if i%50_000 == 0 {
			stragglers++
			continue
		}
		s.Settle(h)
	}
	s.check()
	if row := s.lanes[0].row; len(row) > 4*stragglers || cap(row) > 16*stragglers {
		t.Errorf("row of %d (%d) entries for %d stragglers", len(row), cap(row), stragglers)
	}
}

// TestGapsCostNothing publishes with gaps of a million, as a replay without the transient messages
// may.
func TestGapsCostNothing(t *testing.T) {
	s := new(State)
	for i := range uint64(100) {
		s.Publish(&Item{Handle: MakeHandle(0, 1+i*1_000_000), Flags: Persistent})
	}
	if row := s.lanes[0].row; len(row) != 100 {
		t.Errorf("row of %d entries for 100 messages", len(row))
	}
	if n := s.SettleRange(1, 50_000_000, nil); n != 50 {
		t.Errorf("settled %d, want 50", n)
	}
	s.check()
}

// TestShortTailShrinks leaves one message of a burst in each of many queues: Cool must free the
// memory of the others.
func TestShortTailShrinks(t *testing.T) {
	s := new(State)
	for range 255 {
		s.Publish(&Item{Index: 1, Flags: Persistent, Env: env("12345678")})
	}
	s.SettleRange(1, 200, nil)
	s.SettleRange(202, 100, nil)
	s.Cool(0, 0, nil) // not on disk, so the envelope must stay
	if want := 8*itemBytes + 8; s.HotBytes() != want {
		t.Errorf("%d hot bytes, want %d", s.HotBytes(), want)
	}
	s.check()
	if h := s.Publish(&Item{Flags: Persistent}); h != 256 {
		t.Errorf("published as %d", h)
	}
	if it := s.Next(0); it.Handle != 201 || string(it.Env) != "12345678" {
		t.Errorf("next is %+v", it)
	}
}

// TestCoolKeepsWhatIsNowhereElse has one message of each kind: Cool must keep every envelope whose
// body is nowhere else.
func TestCoolKeepsWhatIsNowhereElse(t *testing.T) {
	s := new(State)
	refuse := func(*Item) (uint64, uint32, bool) { return 0, 0, false }
	for _, m := range []struct {
		flags Flags
		index uint64
		kept  bool
	}{
		{Persistent, 7, false}, {Persistent, 8, true}, {Persistent, 0, true}, {Scratch, 90, false}, {0, 0, true},
	} {
		h := s.Publish(&Item{Flags: m.flags, Index: m.index, Env: env("body")})
		s.Cool(7, 0, refuse)
		if it, _ := s.Get(h); (it.Env != nil) != m.kept {
			t.Errorf("flags %b, index %d: envelope %q", m.flags, m.index, it.Env)
		}
	}
	s.check()
}

// TestCoolStopsAtKeep checks that Cool frees the messages delivered last and leaves the head in
// memory.
func TestCoolStopsAtKeep(t *testing.T) {
	s := new(State)
	for range 256 * 40 {
		s.Publish(&Item{Index: 1, Flags: Persistent, Env: env("0123456789012345678901234567890123456789")})
	}
	keep := s.HotBytes() / 2
	s.Cool(1, keep, nil)
	s.check()
	if hot := s.HotBytes(); hot > keep || hot < keep*9/10 {
		t.Errorf("%d hot bytes, want nearly %d", hot, keep)
	}
	for i := range 256 * 18 {
		if s.Next(0).Env == nil {
			t.Fatalf("message %d from the head is not in memory", i)
		}
	}
}

// TestEventsComeInTime expires messages only at the times that NextEvent returns: none may be
// missed.
func TestEventsComeInTime(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	s := new(State)
	at := map[int64]int{}
	for range 20_000 {
		e := 1 + rng.Int64N(2000)
		at[e]++
		s.Publish(&Item{Expires: e, Flags: Persistent, Index: 1})
	}
	s.Cool(1, 0, nil)
	for len(at) > 0 {
		now := s.NextEvent()
		n := 0
		for lent := []Handle{0}; len(lent) > 0; n += len(lent) {
			lent = s.LendExpired(now, 3, nil)
			if len(lent) > 3 {
				t.Fatalf("%d messages at once", len(lent))
			}
			for _, h := range lent {
				if it, ok := s.Settle(h); !ok || it.Expires != now {
					t.Fatalf("message of %d expired at %d", it.Expires, now)
				}
			}
		}
		if n != at[now] || n == 0 {
			t.Fatalf("%d messages expired at %d, want %d", n, now, at[now])
		}
		delete(at, now)
	}
	if s.NextEvent() != never || s.Ready() != 0 {
		t.Errorf("%d messages left, event %d", s.Ready(), s.NextEvent())
	}
}

// TestHashSeesEveryField changes one field at a time.
func TestHashSeesEveryField(t *testing.T) {
	base := Item{Handle: MakeHandle(1, 5), Index: 7, Sub: 1, Size: 10, Expires: 99, Count: 2, Flags: Persistent}
	hash := func(change func(*Item)) uint64 {
		it := base
		change(&it)
		s := new(State)
		s.Publish(&it)
		return s.Hash()
	}
	want := hash(func(*Item) {})
	for name, change := range map[string]func(*Item){
		"priority":   func(it *Item) { it.Handle = MakeHandle(2, 5) },
		"seq":        func(it *Item) { it.Handle++ },
		"index":      func(it *Item) { it.Index++ },
		"sub":        func(it *Item) { it.Sub++ },
		"size":       func(it *Item) { it.Size++ },
		"expires":    func(it *Item) { it.Expires++ },
		"due":        func(it *Item) { it.Due = 5 },
		"count":      func(it *Item) { it.Count++ },
		"persistent": func(it *Item) { it.Flags = 0 },
	} {
		if hash(change) == want {
			t.Errorf("the hash does not see %s", name)
		}
	}
	if hash(func(it *Item) { it.Flags = Persistent | Redelivered }) != want {
		t.Error("the hash sees what is happening to a message")
	}
}
