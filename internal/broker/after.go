package broker

import (
	"maps"
	"slices"

	"fiveways/internal/core/queue"
)

// order is the order that messages ask for in the queues of a virtual host that care for it (QueuePolicy.ConsumeAfter), as far as these lie on
// one shard: each message may name others, by their message-ids, and is blocked while one of these is in any of the queues.
//
// Only what is there when a message is published counts, and copies of it: a dead letter, or what a transaction moved on, from one of these queues
// to another is as old as its original, and waits for nothing itself. So each message waits for older ones only, and never in a circle. All this is
// not durable: the messages say it (after_recall.go), and the facts of copies their age.
type order struct {
	ids    *ids
	slots  []orderSlot // by idEntry.slot
	spare  []uint32    // slots to use again
	queues int
	live   int           // messages in the queues, with and without ids
	asked  map[idSum]int // ids that are waited for: on how many messages
}

// orderSlot stands for a queue in entries.
type orderSlot struct {
	q       *Queue // nil: it has gone
	entries int
}

// after is the part of a queue in an order.
//
// Invariants: waited has only messages that live. What waits for an id hangs on the youngest message with it that was there; when that goes, on
// the next older one. left has the blocked messages.
type after struct {
	order  *order
	slot   uint32
	waited map[queue.Handle]*waited
	left   map[queue.Handle]int32 // ids for which a message waits
}

// waited is those who wait for a message.
type waited struct {
	sum  idSum
	by   []spot // with some that have gone
	room int    // so many there may be before those that have gone are forgotten
}

// spot is where a message lies.
type spot struct {
	q *Queue
	h queue.Handle
}

// enterOrder makes the queue a part of the order of its virtual host.
func (sh *shard) enterOrder(q *Queue) {
	o := sh.orders[q.vhost]
	if o == nil {
		o = &order{ids: newIDs(), asked: map[idSum]int{}}
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
	q.after = &after{order: o, slot: slot, waited: map[queue.Handle]*waited{}, left: map[queue.Handle]int32{}}
}

// leaveOrder lets go what waits for messages of a queue that goes with all it holds.
func (sh *shard) leaveOrder(q *Queue) {
	a := q.after
	o := a.order
	o.slots[a.slot].q = nil
	o.retire(a.slot)
	o.queues--
	o.live -= q.state.Ready() + q.state.Unacked() + q.state.Scheduled() + q.state.Blocked()
	for _, h := range slices.Sorted(maps.Keys(a.waited)) {
		sh.passOn(q, h)
	}
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

// youngest finds the youngest message with an id; q is nil when there is none.
func (o *order) youngest(sum idSum) spot { return o.living(o.ids.first(sum)) }

// living is the first message from e on that lives, of those with the same id.
func (o *order) living(e uint32) spot {
	for ; e != 0; e = o.ids.next(e) {
		if en := o.ids.entry(e); o.lives(en) {
			return spot{o.slots[en.slot].q, en.h}
		}
	}
	return spot{}
}

// livesBeside tells whether a message with an id lives that is not among some.
func (o *order) livesBeside(sum idSum, some []Loan) bool {
	for e := o.ids.first(sum); e != 0; e = o.ids.next(e) {
		if en := o.ids.entry(e); o.lives(en) && !slices.Contains(some, Loan{o.slots[en.slot].q, en.h}) {
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
	eachIn(a.left, h, n, func(h queue.Handle) { delete(a.left, h) })
	eachIn(a.waited, h, n, func(h queue.Handle) { sh.passOn(q, h) })
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

// passOn has those who waited for a message that has gone wait for the next older one with its id. When there is none they wait for one id less.
func (sh *shard) passOn(q *Queue, h queue.Handle) {
	o := q.after.order
	w := q.after.unhang(h)
	if e := o.ids.find(w.sum, q.after.slot, h); e != 0 {
		if older := o.living(o.ids.next(e)); older.q != nil {
			older.q.after.hang(older.h, w.sum, w.by...)
			return
		}
	}
	for _, at := range w.by {
		if !at.waits() {
			continue
		}
		if at.q.after.left[at.h]--; at.q.after.left[at.h] == 0 {
			delete(at.q.after.left, at.h)
			at.q.state.Unblock(at.h)
			sh.setEarly(at.q, at.h, 1)
			sh.mark(at.q)
		}
	}
}

// hang notes some that wait for a message.
func (a *after) hang(h queue.Handle, sum idSum, by ...spot) {
	w := a.waited[h]
	if w == nil {
		w = &waited{sum: sum}
		a.waited[h] = w
		a.order.asked[sum]++
	}
	if len(w.by)+len(by) > w.room {
		w.by = slices.DeleteFunc(w.by, func(at spot) bool { return !at.waits() })
		w.room = 2*(len(w.by)+len(by)) + 8
	}
	w.by = append(w.by, by...)
}

// unhang takes those off a message that wait for it.
func (a *after) unhang(h queue.Handle) *waited {
	w := a.waited[h]
	delete(a.waited, h)
	if a.order.asked[w.sum]--; a.order.asked[w.sum] == 0 {
		delete(a.order.asked, w.sum)
	}
	return w
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
