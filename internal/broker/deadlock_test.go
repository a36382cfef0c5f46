package broker

import (
	"testing"

	"fiveways/internal/core/queue"
)

// Whoever closes a circle of takers is refused, however long it is; a chain is none.
func TestWaits(t *testing.T) {
	q := &Queue{}
	w := func(on int, holds ...int) *wait {
		w := &wait{on: spot{q, queue.Handle(on)}}
		for _, h := range holds {
			w.holds = append(w.holds, Loan{q, queue.Handle(h)})
		}
		return w
	}
	var ws waits
	a, b := w(2, 1), w(3, 2, 12)
	for _, one := range []*wait{a, b} {
		if !ws.enter(one) {
			t.Error("a chain was refused")
		}
	}
	for _, one := range []*wait{w(1, 3), w(12, 3), w(3, 4, 3)} {
		if ws.enter(one) {
			t.Errorf("the circle over message %d was closed", one.on.h)
		}
	}
	if c := w(3, 4); !ws.enter(c) {
		t.Error("who waits beside a chain was refused")
	}
	ws.leave(b)
	if !ws.enter(w(1, 3)) {
		t.Error("a circle was seen that is open")
	}
	if len(ws.all) != 3 {
		t.Errorf("%d wait", len(ws.all))
	}
}
