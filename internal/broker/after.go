package broker

import (
	"iter"
	"maps"
	"slices"

	"fiveways/internal/core/queue"
)

// order is the order that messages ask for in the queues of a virtual host that care for it (QueuePolicy.ConsumeAfter), as far as these lie on
// one shard: each message may name others, by their message-ids, and is blocked while one of these is in any of the queues, whichever came first.
//
// A message waits for all with an id that it names. Ids that name each other in a circle are the exception: among them a message waits for older
// ones and for those that name nobody, so messages never wait for each other in a circle (after_circle.go). A copy, that is, a dead letter
// or what a transaction moved on from one of these queues to another, names nobody. All this follows from the messages that are there and the
// order in which they came, so it is not in the log (after_recall.go).
type order struct {
	ids    *ids
	slots  []orderSlot // by idEntry.slot
	spare  []uint32    // slots to use again
	queues int
	live   int              // messages in the queues, with and without ids
	asked  map[idSum]*asked // ids that messages name, whether there is such a message or not
	clock  uint64           // messages that named others until now
	circles
}

// orderSlot stands for a queue in entries.
type orderSlot struct {
	q       *Queue // nil: it has gone
	entries int
}

// after is the part of a queue in an order.
//
// Invariant: waited has the messages with an id that is asked for, asks those that name others; all of them live.
type after struct {
	order  *order
	slot   uint32
	waited map[queue.Handle]*asked
	asks   map[queue.Handle]*ask
}

// enterOrder makes the queue a part of the order of its virtual host.
func (sh *shard) enterOrder(q *Queue) {
	o := sh.orders[q.vhost]
	if o == nil {
		o = &order{ids: newIDs(), asked: map[idSum]*asked{}}
		sh.orders[q.vhost] = o
	}
	var slot uint32
	if n := len(o.spare); n > 0 {
		slot, o.spare = o.spare[n-1], o.spare[:n-1]
	} else {
		slot = uint32(len(o.slots))
		o.slots = append(o.slots, orderSlot{})
	}
	o.slots[slot].q = q
	o.queues++
	q.after = &after{order: o, slot: slot, waited: map[queue.Handle]*asked{}, asks: map[queue.Handle]*ask{}}
}

// leaveOrder lets go what waits for messages of a queue that goes with all it holds.
func (sh *shard) leaveOrder(q *Queue) {
	a := q.after
	o := a.order
	o.slots[a.slot].q = nil
	o.retire(a.slot)
	o.queues--
	o.live -= q.state.Ready() + q.state.Unacked() + q.state.Scheduled() + q.state.Blocked()
	for _, h := range slices.Sorted(maps.Keys(a.asks)) {
		o.drop(a.asks[h])
	}
	for _, h := range slices.Sorted(maps.Keys(a.waited)) {
		sh.went(q, h)
	}
	sh.untangle(o)
	q.after = nil
	if o.queues == 0 {
		delete(sh.orders, q.vhost)
	}
}

// retire lets a slot be used again when nothing is left of its queue.
func (o *order) retire(slot uint32) {
	if s := &o.slots[slot]; s.q == nil && s.entries == 0 {
		o.spare = append(o.spare, slot)
	}
}

// lives tells whether the message of an entry is still there.
func (o *order) lives(en *idEntry) bool {
	q := o.slots[en.slot].q
	return q != nil && q.state.Status(en.h) != queue.Gone
}

// forget tells whether the message of an entry is gone, and counts it off then: the entry will be freed.
func (o *order) forget(en *idEntry) bool {
	if o.lives(en) {
		return false
	}
	o.slots[en.slot].entries--
	o.retire(en.slot)
	return true
}

// with goes over the messages with an id, the youngest first.
func (o *order) with(sum idSum) iter.Seq[spot] {
	return func(yield func(spot) bool) {
		for e := o.ids.first(sum); e != 0; e = o.ids.next(e) {
			if en := o.ids.entry(e); o.lives(en) && !yield(spot{o.slots[en.slot].q, en.h}) {
				return
			}
		}
	}
}

// livesBeside tells whether a message with an id lives that is not among some.
func (o *order) livesBeside(sum idSum, some []Loan) bool {
	for at := range o.with(sum) {
		if !slices.Contains(some, Loan{at.q, at.h}) {
			return true
		}
	}
	return false
}

// firstIn finds the message with an id that is first in the order of a queue.
func (o *order) firstIn(q *Queue, messageID string) (h queue.Handle, ok bool) {
	best := noPlace
	for e := o.ids.first(sumOf([]byte(messageID))); e != 0; e = o.ids.next(e) {
		if en := o.ids.entry(e); en.slot == q.after.slot && o.lives(en) {
			best = min(best, placeOf(en.h))
		}
	}
	return best.handle(), best != noPlace
}

// freed takes notice that the live ones among n contiguous messages have gone, and makes ready what nothing blocks any more.
func (sh *shard) freed(q *Queue, h queue.Handle, n, live int) {
	a := q.after
	a.order.live -= live
	eachIn(a.asks, h, n, func(h queue.Handle) { a.order.drop(a.asks[h]) })
	eachIn(a.waited, h, n, func(h queue.Handle) { sh.went(q, h) })
	sh.untangle(a.order)
	if q.early != nil {
		eachIn(q.early.keys, h, n, func(h queue.Handle) { delete(q.early.keys, h) })
	}
}

// eachIn calls fn for those of n contiguous handles that a map has, in their order.
func eachIn[V any](m map[queue.Handle]V, h queue.Handle, n int, fn func(queue.Handle)) {
	switch {
	case len(m) == 0:
	case n <= len(m):
		for i := range queue.Handle(n) {
			if _, ok := m[h+i]; ok {
				fn(h + i)
			}
		}
	default:
		for _, have := range slices.Sorted(maps.Keys(m)) {
			if have >= h && have-h < queue.Handle(n) {
				fn(have)
			}
		}
	}
}

// Entries of messages that are gone may be as many as those of live ones and slackEntries more; then some are freed at each look at one of the
// queues. The table is made anew when it has room for far more.
const (
	slackEntries = 1024
	cleanLook    = 1024 // buckets
)

// tidy keeps the table of ids small when messages go and none come.
func (o *order) tidy() {
	switch {
	case int(o.ids.made) <= slackEntries:
	case o.live == 0:
		o.clear()
	case int(o.ids.made) > 8*(o.live+slackEntries):
		o.ids = o.ids.rebuilt(o.forget)
	case o.ids.used > 2*o.live+slackEntries:
		o.ids.clean(cleanLook, o.forget)
	}
}

// clear forgets all entries.
func (o *order) clear() {
	o.ids = newIDs()
	for i := range o.slots {
		if s := &o.slots[i]; s.entries > 0 {
			s.entries = 0
			o.retire(uint32(i))
		}
	}
}
