package broker

import (
	"cmp"

	"fiveways/internal/core/heap"
	"fiveways/internal/core/queue"
)

// Order is a place in the order of a queue: by At, then by Tie; their meaning is the protocol's.
type Order struct{ At, Tie int64 }

func (a Order) compare(b Order) int {
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Tie, b.Tie))
}

// early is the messages of a queue that do not stand where they came: their senders gave them a
// place (Publish.Order). Those that are ready are parked, and go when the first of the others is
// behind them, by what Options.Order says of it; one of which it says nothing is behind all. The
// places are not in the log: after a start all messages that stand behind one of a later place are
// early.
//
// Invariant: keys has live messages. Each of them that is parked is in ready, with places of some
// that are not.
type early struct {
	keys  map[queue.Handle]Order
	ready heap.Heap[earlyPlace, earlyOrder]
}

type earlyPlace struct {
	order Order
	h     queue.Handle
}

type earlyOrder struct{ heap.Untracked[earlyPlace] }

func (earlyOrder) Before(a, b earlyPlace) bool {
	if a, b := a.h.Priority(), b.h.Priority(); a != b {
		return a > b
	}
	return cmp.Or(a.order.compare(b.order), cmp.Compare(a.h, b.h)) < 0
}

// goEarly gives a message its place. Queues that choose messages for consumers keep to the order in
// which they came.
func (sh *shard) goEarly(q *Queue, h queue.Handle, at Order) {
	if q.after == nil || q.selective != nil || sh.b.opts.Order == nil {
		return
	}
	if q.early == nil {
		q.early = &early{keys: map[queue.Handle]Order{}}
	}
	q.early.keys[h] = at
	sh.setEarly(q, h, 1)
}

// setEarly sets aside those of n contiguous messages that have a place and are ready.
func (sh *shard) setEarly(q *Queue, h queue.Handle, n int) {
	e := q.early
	if e == nil {
		return
	}
	queue.EachIn(e.keys, h, n, func(h queue.Handle) {
		if q.state.Status(h) == queue.Ready {
			q.state.Lend(h)
			q.state.Park(h)
			e.ready.Push(earlyPlace{e.keys[h], h})
		}
	})
}

// endEarly has all messages stand where they came.
func (q *Queue) endEarly() {
	if q.early != nil {
		q.early = nil
		q.state.UnparkAll()
	}
}

// nextEarly is nextReady for a message that has a place, nil when another one goes before.
func (sh *shard) nextEarly(q *Queue, until int64) *queue.Item {
	e := q.early
	for len(e.ready) > 0 && q.state.Status(e.ready[0].h) != queue.Parked {
		e.ready.Pop()
	}
	if len(e.keys) == 0 {
		q.early = nil
	}
	if len(e.ready) == 0 {
		return nil
	}
	first := e.ready[0]
	if it, _ := q.state.Get(first.h); it.Expires != 0 && it.Expires <= until { // its timer sees to it
		return nil
	}
	if head := q.state.PeekBeyond(sh.now, until); head != nil && sh.before(q, head, &first) {
		return nil
	}
	e.ready.Pop()
	return sh.takeAside(q, first.h, until)
}

// before reports whether the first message that stands where it came goes before one that has a
// place.
func (sh *shard) before(q *Queue, head *queue.Item, first *earlyPlace) bool {
	if a, b := head.Handle.Priority(), first.h.Priority(); a != b {
		return a > b
	}
	h := head.Handle
	env, err := sh.load(q, head)
	if err != nil {
		return true // who takes it will tell
	}
	at, ok := sh.b.opts.Order(env)
	return ok && cmp.Or(at.compare(first.order), cmp.Compare(h, first.h)) < 0
}
