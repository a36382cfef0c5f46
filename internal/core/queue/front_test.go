package queue

import "testing"

// TestStack checks that a queue used as a stack works indefinitely in a small array: numbers are
// not reused, but memory is.
func TestStack(t *testing.T) {
	s := new(State)
	for i := range 10 * chunkLen {
		for range 3 {
			s.publishFront(&Item{Handle: MakeHandle(1, 0), Flags: Persistent, Env: env("x")})
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

// TestPublishFront checks that messages published to the front come first, the last one before the
// others, and that a lane that counts up refuses them.
func TestPublishFront(t *testing.T) {
	s := new(State)
	s.Publish(&Item{})
	if h := s.publishFront(&Item{}); h != 0 {
		t.Fatalf("published as %x", h)
	}
	second := s.publishFront(&Item{Handle: MakeHandle(1, 0)})
	first := s.publishFront(&Item{Handle: MakeHandle(1, 0)})
	for i, want := range []Handle{first, second, MakeHandle(0, 1)} {
		if got := s.Next(0); got.Handle != want {
			t.Fatalf("number %d is %x, want %x", i, got.Handle, want)
		}
	}
	if s.First() != first {
		t.Fatalf("first place %x", s.First())
	}
}

// TestPublishFrontAfterRemoval checks that after a start a message published to the front comes
// first even if earlier ones at the head were removed, not delivered.
func TestPublishFrontAfterRemoval(t *testing.T) {
	s := new(State)
	front := func(n int) (last Handle) {
		for range n {
			last = s.publishFront(&Item{Handle: MakeHandle(1, 0), Flags: Persistent, Env: env("x")})
		}
		return last
	}
	head := front(4 * chunkLen)
	restored := new(State)
	if err := restored.Restore(s.AppendTo(nil)); err != nil {
		t.Fatal(err)
	}
	s = restored
	for h := head; s.Ready() > chunkLen; h++ {
		s.Settle(h)
	}
	want := front(3 * chunkLen)
	if got := s.Next(0); got.Handle != want {
		t.Errorf("the first is %x, want %x", got.Handle, want)
	}
	s.check()
}

// publishFront publishes a message in front of all others of its priority. It returns 0 if that is
// not possible.
func (s *State) publishFront(it *Item) Handle {
	if it.Handle = s.NextFront(it.Handle.Priority()); it.Handle == 0 {
		return 0
	}
	return s.Publish(it)
}
