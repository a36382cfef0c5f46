package queue

import "testing"

// A queue used as a stack goes on for ever in a small array: its numbers do not come back, its memory does.
func TestStack(t *testing.T) {
	s := new(State)
	for i := range 10 * chunkLen {
		for range 3 {
			s.PublishFront(&Item{Handle: MakeHandle(1, 0), Flags: Persistent, Env: env("x")})
		}
		for range 3 {
			s.Settle(s.Next(0).Handle)
		}
		if l := s.lanes[0]; s.HotBytes() > 64*itemBytes || len(l.row) > 8 {
			t.Fatalf("after %d rounds: %d bytes, %d places in the row", i, s.HotBytes(), len(l.row))
		}
	}
	s.check()
}

// What was put before the head comes first, the last first; a lane that counts up takes nothing there.
func TestPublishFront(t *testing.T) {
	s := new(State)
	s.Publish(&Item{})
	if h := s.PublishFront(&Item{}); h != 0 {
		t.Fatalf("published as %x", h)
	}
	second := s.PublishFront(&Item{Handle: MakeHandle(1, 0)})
	first := s.PublishFront(&Item{Handle: MakeHandle(1, 0)})
	for i, want := range []Handle{first, second, MakeHandle(0, 1)} {
		if got := s.Next(0); got.Handle != want {
			t.Fatalf("number %d is %x, want %x", i, got.Handle, want)
		}
	}
	if s.First() != first {
		t.Fatalf("first place %x", s.First())
	}
}
