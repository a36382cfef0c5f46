package shard

import (
	"cmp"

	"fiveways/internal/core/heap"
	"fiveways/internal/core/queue"
)

// Order is a place in the order of a queue: by At, then by Tie. The protocol gives them a meaning.
type Order struct{ At, Tie int64 }

func (a Order) compare(b Order) int {
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Tie, b.Tie))
}

// early holds the messages of a queue that are not delivered in the order of their arrival, because
// their senders gave them a place (Publish.Order). While ready they are parked. Such a message is
// delivered before the first of the other messages, if its place is before the place that
// Config.Order finds in that one; a message without a place comes after all. The places are not in
// the log: after a start, all messages that stand behind one of a later place are early.
//
// Invariant: keys has only live messages. Each of them that is parked is in ready, which may also
// have messages that are not parked any more.
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

// goEarly gives a message its place. Queues with groups or selectors keep the order of arrival.
func (sh *Shard) goEarly(q *Queue, h queue.Handle, at Order) {
	if q.after == nil || q.selective != nil || sh.set.Order == nil {
		return
	}
	if q.early == nil {
		q.early = &early{keys: map[queue.Handle]Order{}}
	}
	q.early.keys[h] = at
	sh.setEarly(q, h, 1)
}

// setEarly parks those of n contiguous messages that have a place and are ready.
func (sh *Shard) setEarly(q *Queue, h queue.Handle, n int) {
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

// endEarly puts all messages into the order of their arrival.
func (q *Queue) endEarly() {
	if q.early != nil {
		q.early = nil
		q.state.UnparkAll()
	}
}

// nextEarly is nextReady for messages with a place; nil when a message without one comes first.
func (sh *Shard) nextEarly(q *Queue, until int64) *queue.Item {
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
	if it, _ := q.state.Get(first.h); it.Expires != 0 && it.Expires <= until { // its timer ends it
		return nil
	}
	if head := q.state.PeekBeyond(sh.now, until); head != nil && sh.before(q, head, &first) {
		return nil
	}
	e.ready.Pop()
	return sh.takeAside(q, first.h, until)
}

// before reports whether the first message in the order of arrival is delivered before one that has
// a place.
func (sh *Shard) before(q *Queue, head *queue.Item, first *earlyPlace) bool {
	if a, b := head.Handle.Priority(), first.h.Priority(); a != b {
		return a > b
	}
	h := head.Handle
	env, err := sh.load(q, head)
	if err != nil {
		return true // its delivery reports the error
	}
	at, ok := sh.set.Order(env)
	return ok && cmp.Or(at.compare(first.order), cmp.Compare(h, first.h)) < 0
}
