package queue

import (
	"errors"
	"math"
	"testing"
)

// sample has two lanes, a hole, scheduled, returned and transient messages, and both hot and packed
// chunks.
func sample() *State {
	s := new(State)
	for i := range 700 {
		it := Item{Index: uint64(i / 3), Sub: uint32(i % 3), Size: uint32(i % 2 * 300), Flags: Persistent, Env: env("sample")}
		switch {
		case i%7 == 0:
			it.Due = int64(1000 + i)
		case i%5 == 0:
			it.Expires = int64(9000 - i)
		case i%11 == 0:
			it.Flags = 0
		}
		if i == 300 {
			it.Handle = MakeHandle(0, 100_000)
		}
		s.Publish(&it)
	}
	s.Publish(&Item{Handle: MakeHandle(3, 0), Index: 1 << 60, Sub: 1<<32 - 1, Size: 1<<32 - 1, Flags: Persistent, Count: 1<<32 - 1})
	for i := range 300 {
		s.publishFront(&Item{Handle: MakeHandle(1, 0), Index: uint64(i), Flags: Persistent, Env: env("front")})
	}
	for range 20 {
		s.Requeue(s.Next(0).Handle, 1, 0)
	}
	s.Cool(200, 0, spillAll)
	return s
}

func TestRestoreRejectsCutSnapshots(t *testing.T) {
	snapshot := sample().AppendTo(nil)
	for n := range len(snapshot) {
		s := sample()
		if err := s.Restore(snapshot[:n]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("first %d bytes of %d: %v", n, len(snapshot), err)
		}
		if s.Ready()+s.Scheduled()+s.Unacked() != 0 || s.NextSeq(0) != 1 {
			t.Fatalf("first %d bytes: content left", n)
		}
	}
	if err := new(State).Restore(append(snapshot, 0)); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("one byte more: %v", err)
	}
}

func TestRestoreRejectsBadChunks(t *testing.T) {
	s := new(State)
	for range 20 {
		s.Publish(&Item{Index: 1, Flags: Persistent})
	}
	s.SettleRange(MakeHandle(0, 3), 10, nil)
	snapshot := s.AppendTo(nil)
	const (
		lane, next, tag, live = 1, 3, 4, 6 // offsets of fields while all numbers are small
		packed                = live + chunkLen/8 + 1
	)
	for name, change := range map[string]func(b []byte){
		"version":                   func(b []byte) { b[0] = 2 },
		"lane mark":                 func(b []byte) { b[lane] = 2 },
		"next too low":              func(b []byte) { b[next] = 20 },
		"unknown tag":               func(b []byte) { b[tag] |= 8 },
		"live message not packed":   func(b []byte) { b[live] |= 1 << 5 },
		"sequence number 0":         func(b []byte) { b[live] |= 1 },
		"no live message":           func(b []byte) { clear(b[live : live+chunkLen/8]) },
		"slot going back":           func(b []byte) { b[packed+1] = 200 },
		"live message, transient":   func(b []byte) { b[packed+3] = 0 },
		"live message, redelivered": func(b []byte) { b[packed+3] |= byte(Redelivered) },
	} {
		b := append([]byte(nil), snapshot...)
		change(b)
		if string(b) == string(snapshot) {
			t.Errorf("%s: nothing changed", name)
		}
		if err := new(State).Restore(b); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDecoderRejectsSlotsOutOfOrder(t *testing.T) {
	for _, second := range []byte{5, 4} {
		d := newDecoder([]byte{packSlot, 5, packSlot, second})
		if !d.next() || d.slot != 5 || d.next() || d.Err() == nil {
			t.Errorf("slot %d after 5: %v", second, d.Err())
		}
	}
	d := newDecoder([]byte{packSlot, chunkLen - 1, 0})
	if !d.next() || d.next() || d.Err() == nil {
		t.Errorf("slot after the last: %v", d.Err())
	}
}

// TestFrozenInBackground changes a State while its Frozen is written. It is only useful with the
// race detector.
func TestFrozenInBackground(t *testing.T) {
	s := sample()
	want := string(s.AppendTo(nil))
	f := s.Freeze()
	done := make(chan string)
	go func() { done <- string(f.AppendTo(nil)) }()
	s.LendExpired(1<<40, 100, nil)
	s.SettleRange(MakeHandle(0, 1), 350, nil)
	for it := s.Next(1 << 40); it != nil; it = s.Next(1 << 40) {
		s.Settle(it.Handle)
	}
	if got := <-done; got != want {
		t.Error("the frozen state changed")
	}
}

// FuzzRestore feeds bytes to Restore. What it accepts must be valid and usable, and must give a
// valid snapshot.
func FuzzRestore(f *testing.F) {
	f.Add(new(State).AppendTo(nil))
	f.Add(sample().AppendTo(nil))
	small := new(State)
	for i := range 3 {
		small.Publish(&Item{Index: uint64(i), Flags: Persistent, Expires: 5, Due: 3})
	}
	f.Add(small.AppendTo(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := new(State)
		if err := s.Restore(b); err != nil {
			if !errors.Is(err, ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		s.check()
		again := new(State)
		if err := again.Restore(s.AppendTo(nil)); err != nil {
			t.Fatal(err)
		}
		again.check()
		if again.Hash() != s.Hash() || again.Ready() != s.Ready() || again.Scheduled() != s.Scheduled() {
			t.Fatal("differs when written and read again")
		}
		for _, h := range s.LendExpired(100, math.MaxInt, nil) {
			if _, ok := s.Settle(h); !ok {
				t.Fatalf("lent %x is not here", h)
			}
		}
		s.Due(100)
		for it := s.Next(0); it != nil; it = s.Next(0) {
			s.Requeue(it.Handle, it.Count+1, 200)
		}
		s.check()
		s.Purge(nil, nil)
		for _, l := range again.lanes {
			again.SettleRange(MakeHandle(l.priority, 1), int(l.next), nil)
		}
		if n := again.Ready() + again.Scheduled(); n != 0 {
			t.Fatalf("%d messages could not be settled", n)
		}
		again.check()
	})
}
