package broker

import (
	"slices"

	"fiveways/internal/core/queue"
)

// spot is where a message lies.
type spot struct {
	q *Queue
	h queue.Handle
}

// ask is a message that names others. Edges are kept whatever is happening to it: while it is lent it is not blocked, but when it comes back.
//
// Invariant: left is how many edges are on. With any the message is neither ready nor scheduled.
type ask struct {
	spot
	own   idSum // its id
	named bool  // it has one
	late  bool  // older messages do not wait for it
	gone  bool
	age   uint64 // less than that of younger ones; the same in all queues that a message was published to
	left  int32
	edges []edge
}

// edge is an id that a message names.
type edge struct {
	to *asked
	on bool // the message waits for one with the id
}

// asked is an id that messages name.
//
// Invariant: live is not 0. there is how many messages have it in after.waited.
type asked struct {
	sum   idSum
	by    []naming // with some that have gone
	live  int      // of by
	there int      // messages with the id
}

// naming is an edge of a message.
type naming struct {
	*ask
	edge int32
}

// ask notes that a message names others.
func (o *order) ask(q *Queue, h queue.Handle, in *arrival) *ask {
	a := &ask{spot: spot{q, h}, own: in.sum, named: in.named, age: in.age, edges: make([]edge, len(in.sums))}
	for i, sum := range in.sums {
		r := o.asked[sum]
		if r == nil {
			r = &asked{sum: sum}
			o.asked[sum] = r
			for at := range o.with(sum) {
				at.q.after.waited[at.h] = r
				r.there++
			}
		}
		r.by = append(r.by, naming{a, int32(i)})
		r.live++
		a.edges[i].to = r
	}
	q.after.asks[h] = a
	return a
}

// drop forgets a message that named others.
func (o *order) drop(a *ask) {
	a.gone = true
	delete(a.q.after.asks, a.h)
	for _, e := range a.edges {
		r := e.to
		if r.live--; r.live == 0 {
			o.unask(r)
		} else if len(r.by) > 2*r.live+8 {
			r.by = slices.DeleteFunc(r.by, func(n naming) bool { return n.gone })
		}
	}
	o.leave(a)
}

// unask forgets an id that nobody names any more.
func (o *order) unask(r *asked) {
	delete(o.asked, r.sum)
	for e := o.ids.first(r.sum); e != 0; e = o.ids.next(e) {
		en := o.ids.entry(e)
		if q := o.slots[en.slot].q; q != nil {
			delete(q.after.waited, en.h)
		}
	}
}

// came tells those who name the id of a message that it is there.
func (sh *shard) came(o *order, r *asked) {
	if r.there == 1 || !o.plain(r) {
		sh.review(o, r)
	}
}

// went takes notice that a message with an id that is asked for has gone.
func (sh *shard) went(q *Queue, h queue.Handle) {
	r := q.after.waited[h]
	delete(q.after.waited, h)
	if r.there--; r.there == 0 || !q.after.order.plain(r) {
		sh.review(q.after.order, r)
	}
}

// review finds out anew who waits for an id.
func (sh *shard) review(o *order, r *asked) {
	for _, n := range r.by {
		if !n.gone {
			sh.look(o, n)
		}
	}
}

// look finds out whether a message waits for an id that it names, and blocks or frees it.
func (sh *shard) look(o *order, n naming) {
	e := &n.edges[n.edge]
	on := o.waits(n.ask, e.to)
	if on == e.on {
		return
	}
	if e.on = on; on {
		if n.left++; n.left == 1 {
			n.q.state.Block(n.h)
		}
		return
	}
	if n.left--; n.left == 0 && n.q.state.Unblock(n.h) {
		sh.setEarly(n.q, n.h, 1)
		sh.mark(n.q)
	}
}

// waits tells whether a message waits for another one with an id that it names.
func (o *order) waits(a *ask, r *asked) bool {
	if r.there == 0 || o.plain(r) {
		return r.there > 0
	}
	together := o.together(a, r)
	for at := range o.with(r.sum) {
		if m := at.q.after.asks[at.h]; m == nil || m.age < a.age || !together && !m.late {
			return true
		}
	}
	return false
}

// plain tells that all who name an id wait for each message with it.
func (o *order) plain(r *asked) bool { return o.late == 0 && o.circle[r.sum] == 0 }

// setBlocked blocks those of n contiguous messages that came back and wait for others.
func (q *Queue) setBlocked(h queue.Handle, n int) {
	if q.after == nil {
		return
	}
	eachIn(q.after.asks, h, n, func(h queue.Handle) {
		if q.after.asks[h].left > 0 {
			q.state.Block(h)
		}
	})
}
