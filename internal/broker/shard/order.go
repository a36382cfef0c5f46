package shard

import (
	"math"

	"fiveways.dev/fiveways/internal/core/dependency"
	"fiveways.dev/fiveways/internal/core/dispatch"
	"fiveways.dev/fiveways/internal/core/idindex"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// orderedQueue is a queue with QueuePolicy.ConsumeAfter, as seen by the graph of its virtual host.
type orderedQueue struct{ q *Queue }

// Unblocked makes a message that was blocked ready.
func (o orderedQueue) Unblocked(h queue.Handle) {
	sh := o.q.shard
	o.q.setEarly(h, 1)
	sh.mark(o.q)
}

// enterOrder adds the queue to the order of its virtual host.
func (sh *Shard) enterOrder(q *Queue) {
	g := sh.orders[q.vhost]
	if g == nil {
		g = dependency.New()
		sh.orders[q.vhost] = g
	}
	q.after = g.Join(orderedQueue{q}, q.state, q.Declared.Unawaited)
}

// leaveOrder unblocks messages that wait for those of a queue being dropped.
func (sh *Shard) leaveOrder(q *Queue) {
	q.after.Leave()
	if q.after.Graph().Empty() {
		delete(sh.orders, q.vhost)
	}
	q.after = nil
}

// arrival is what dependency knows about the current publish, after lookAtArrival has run.
type arrival struct {
	dependency.Arrival
	looked bool
}

// lookAtArrival determines the ids of the current publish, once for all its queues.
func (sh *Shard) lookAtArrival(q *Queue, o *Op) {
	if in := &sh.arriving; !in.looked {
		in.looked = true
		g := q.after.Graph()
		g.Look(&in.Arrival, o.Env, sh.isCopy(g, o))
	}
}

// isCopy reports whether the op publishes a copy of a message in the order.
func (sh *Shard) isCopy(g *dependency.Graph, o *Op) bool {
	var of Loan
	for _, from := range []any{o.Extra, o.Confirm} {
		switch d := from.(type) {
		case *handover:
			of = Loan{d.source, d.handle}
		case *atLeastOnce:
			of = Loan{d.source, d.wait.Handle}
		case *Loan:
			of = *d
		}
	}
	q := of.Queue
	return q != nil && q.shard == sh && !q.gone && q.after != nil && q.after.Graph() == g && q.state.Status(of.Handle) != queue.Gone
}

// Alive reports whether a queue with an order has a message with an id, other than those of but.
func (sh *Shard) Alive(v *VHost, id idindex.Sum, but []Loan) (alive bool) {
	sh.Call(func() {
		if o := sh.orders[v]; o != nil {
			alive = o.LivesBeside(id, sh.placesOf(but))
		}
	})
	return alive
}

// placesOf returns the positions of those lent messages that have one in an order of the shard.
func (sh *Shard) placesOf(loans []Loan) (all []dependency.At) {
	for _, l := range loans {
		if q := l.Queue; q.shard == sh && !q.gone && q.after != nil {
			all = append(all, dependency.At{In: q.after, Handle: l.Handle})
		}
	}
	return all
}

// freed reports that n contiguous messages, of which live were live, are gone.
func (sh *Shard) freed(q *Queue, h queue.Handle, n, live int) {
	q.after.Went(h, n, live)
	if q.early != nil {
		q.early.Gone(h, n)
	}
}

// recallOrder computes, after a start, which messages are blocked and which have requested a
// position.
func (sh *Shard) recallOrder(g *dependency.Graph) {
	r := sh.set.Store.NewReader(sh.ID)
	read := func(index uint64, sub uint32) (message.Envelope, bool, error) {
		fact, err := r.Read(index, sub)
		if err != nil {
			return nil, false, err
		}
		err = sh.scratch.Decode(fact)
		return sh.scratch.Env, sh.scratch.Copied, err
	}
	newest := map[*Queue]*dispatch.Place{}
	g.Recall(read, func(o dependency.Queue, h queue.Handle) {
		if sh.set.Order == nil {
			return
		}
		q := o.(orderedQueue).q
		if newest[q] == nil {
			newest[q] = &dispatch.Place{At: math.MinInt64}
		}
		sh.recallEarly(q, h, newest[q])
	})
}

// recallEarly gives the message just read its requested position, if that precedes an earlier
// message's.
func (sh *Shard) recallEarly(q *Queue, h queue.Handle, newest *dispatch.Place) {
	at, ok := sh.set.Order(sh.scratch.Env)
	switch {
	case !ok:
	case at.Compare(*newest) < 0:
		sh.goEarly(q, h, at)
	default:
		*newest = at
	}
}
