package queue

import "testing"

// TestPacking packs a queue of messages that are not on disk. Each call spills a part of them and
// says whether another one is needed; what is left is packed again only when it has grown.
func TestPacking(t *testing.T) {
	const keep = 1 << 20
	s := new(State)
	body := make([]byte, 1000)
	publish := func(n int) {
		for range n {
			s.Publish(&Item{Size: uint32(len(body)), Env: body})
		}
	}
	publish(40_000)
	var p Packing
	spilled, calls := 0, 0
	spill := func(*Item) (uint64, uint32, bool) {
		spilled++
		return 1, uint32(spilled), true
	}
	for p.Due(&s.Deliveries, keep) {
		before := spilled
		p.Pack(&s.Deliveries, 0, keep, spill)
		if n := int64(spilled-before) * int64(len(body)); n > spillStep+spillStep/4 {
			t.Fatalf("%d bytes are spilled at once", n)
		}
		if calls++; p.More() != (s.HotBytes() > keep) {
			t.Fatalf("call %d: more to do: %t, %d bytes are left", calls, p.More(), s.HotBytes())
		}
	}
	s.check()
	if hot := s.HotBytes(); calls < 8 || hot > keep {
		t.Errorf("%d bytes are left after %d calls", hot, calls)
	}
	publish(100)
	if p.Due(&s.Deliveries, keep) {
		t.Error("a few more messages are packed")
	}
	publish(1000)
	if !p.Due(&s.Deliveries, keep) {
		t.Error("many more messages are not packed")
	}
	p.Pack(&s.Deliveries, 0, keep, nil)
	if p.Due(&s.Deliveries, keep) {
		t.Error("what could not be packed is tried again")
	}
}
