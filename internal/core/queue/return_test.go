package queue

import "testing"

// TestReturn checks that Return works on a live message in any status, hot or packed, and on
// nothing else.
func TestReturn(t *testing.T) {
	for name, prepare := range map[string]func(*State, Handle){
		"ready":     func(*State, Handle) {},
		"unacked":   func(s *State, h Handle) { s.Lend(h) },
		"scheduled": func(s *State, h Handle) { s.Lend(h); s.Requeue(h, 1, 50) },
	} {
		for _, packed := range []bool{false, true} {
			for _, due := range []int64{0, 70} {
				s := new(State)
				for range 3 {
					s.Publish(&Item{Size: 1, Flags: Persistent})
				}
				h := MakeHandle(0, 2)
				prepare(s, h)
				if packed {
					content := s.Freeze().AppendTo(nil)
					s = new(State)
					if err := s.Restore(content); err != nil {
						t.Fatal(err)
					}
				}
				if !s.Return(h, 7, due) {
					t.Fatalf("%s: not returned", name)
				}
				s.check()
				it, status := s.Get(h)
				want := Ready
				if due != 0 {
					want = Scheduled
				}
				if status != want || it.Count != 7 || it.Due != due || it.Flags&Redelivered == 0 {
					t.Errorf("%s, packed %v, due %d: %v, %+v", name, packed, due, status, it)
				}
			}
		}
	}
	s := new(State)
	h := s.Publish(&Item{Flags: Persistent})
	s.Settle(h)
	if s.Return(h, 1, 0) {
		t.Error("a message that is gone came back")
	}
}
