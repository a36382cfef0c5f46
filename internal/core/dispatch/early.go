package dispatch

import (
	"cmp"
	"math"

	"fiveways.dev/fiveways/internal/core/heap"
	"fiveways.dev/fiveways/internal/core/queue"
)

// Place is a position that a sender asks for in the order of a queue: by At, then by Tie. The
// protocol defines their meaning.
type Place struct{ At, Tie int64 }

// FirstPlace precedes the places of all messages.
var FirstPlace = Place{math.MinInt64, math.MinInt64}

// Compare orders places.
func (a Place) Compare(b Place) int {
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Tie, b.Tie))
}

// Early holds the messages of a queue that are not delivered in order of arrival, because their
// senders asked for a place. While they are ready they are parked. Such a message is delivered
// before the first of the other messages if its place precedes that message's place; a message
// without a place comes last. The log does not record places: after a start, every message behind
// one with a later place is early.
//
// Invariant: places has only live messages. Those that are parked are in ready, which may also have
// messages that are no longer parked.
type Early struct {
	state  *queue.Deliveries
	places map[queue.Handle]Place
	ready  heap.Heap[earlyMessage, earlyOrder]
}

type earlyMessage struct {
	place Place
	h     queue.Handle
}

type earlyOrder struct{ heap.Untracked[earlyMessage] }

func (earlyOrder) Before(a, b earlyMessage) bool {
	if a, b := a.h.Priority(), b.h.Priority(); a != b {
		return a > b
	}
	return cmp.Or(a.place.Compare(b.place), cmp.Compare(a.h, b.h)) < 0
}

// NewEarly returns an Early without messages.
func NewEarly(state *queue.Deliveries) *Early {
	return &Early{state: state, places: map[queue.Handle]Place{}}
}

// Add gives a message its place.
func (e *Early) Add(h queue.Handle, at Place) {
	e.places[h] = at
	e.Park(h, 1)
}

// Park parks those of n contiguous messages that have a place and are ready.
func (e *Early) Park(h queue.Handle, n int) {
	queue.EachIn(e.places, h, n, func(h queue.Handle) {
		if e.state.Status(h) == queue.Ready {
			e.state.Lend(h)
			e.state.Park(h)
			e.ready.Push(earlyMessage{e.places[h], h})
		}
	})
}

// Gone removes the places of n contiguous messages.
func (e *Early) Gone(h queue.Handle, n int) {
	queue.EachIn(e.places, h, n, func(h queue.Handle) { delete(e.places, h) })
}

// Next returns the message with a place that is delivered next. It returns false if a message
// without one comes first, or if the message expires by until. place returns the place of a message
// that is not in e.
func (e *Early) Next(now, until int64, place func(*queue.Item) (Place, bool)) (queue.Handle, bool) {
	for len(e.ready) > 0 && e.state.Status(e.ready[0].h) != queue.Parked {
		e.ready.Pop()
	}
	if len(e.ready) == 0 {
		return 0, false
	}
	first := e.ready[0]
	if it, _ := e.state.Get(first.h); it.Expires != 0 && it.Expires <= until { // its timer will remove it
		return 0, false
	}
	if head := e.state.PeekBeyond(now, until); head != nil && head.Handle.Priority() >= first.h.Priority() {
		h := head.Handle
		if h.Priority() > first.h.Priority() {
			return 0, false
		}
		if at, ok := place(head); ok && cmp.Or(at.Compare(first.place), cmp.Compare(h, first.h)) < 0 {
			return 0, false
		}
	}
	e.ready.Pop()
	return first.h, true
}

// Empty reports whether no message has a place.
func (e *Early) Empty() bool { return len(e.places) == 0 }
