package deadlock

import "testing"

// TestDetector checks that a wait that closes a cycle of any length is refused, and that a chain is
// not.
func TestDetector(t *testing.T) {
	w := func(on int, holds ...int) *Wait[int] { return &Wait[int]{For: on, Holds: holds} }
	var d Detector[int]
	a, b := w(2, 1), w(3, 2, 12)
	for _, one := range []*Wait[int]{a, b} {
		if !d.Enter(one) {
			t.Error("a chain was refused")
		}
	}
	for _, one := range []*Wait[int]{w(1, 3), w(12, 3), w(3, 4, 3)} {
		if d.Enter(one) {
			t.Errorf("the circle over %d was closed", one.For)
		}
	}
	if c := w(3, 4); !d.Enter(c) {
		t.Error("who waits beside a chain was refused")
	}
	d.Leave(b)
	if !d.Enter(w(1, 3)) {
		t.Error("a circle was seen that is open")
	}
	if len(d.all) != 3 {
		t.Errorf("%d wait", len(d.all))
	}
}
