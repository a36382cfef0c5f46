package broker

import (
	"math"

	"fiveways/internal/core/dependency"
	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
)

// orderedQueue is a queue of QueuePolicy.ConsumeAfter as the graph of its virtual host knows it.
type orderedQueue struct{ q *Queue }

// Unblocked has a message that was blocked go.
func (o orderedQueue) Unblocked(h queue.Handle) {
	sh := o.q.shard
	sh.setEarly(o.q, h, 1)
	sh.mark(o.q)
}

// enterOrder makes the queue a part of the order of its virtual host.
func (sh *shard) enterOrder(q *Queue) {
	g := sh.orders[q.vhost]
	if g == nil {
		g = dependency.New()
		sh.orders[q.vhost] = g
	}
	q.after = g.Join(orderedQueue{q}, q.state, q.Declared.Unawaited)
}

// leaveOrder lets go what waits for messages of a queue that goes with all it holds.
func (sh *shard) leaveOrder(q *Queue) {
	q.after.Leave()
	if q.after.Graph().Empty() {
		delete(sh.orders, q.vhost)
	}
	q.after = nil
}

// arrival is what the order asks of the publish in hand, once somebody has looked.
type arrival struct {
	dependency.Arrival
	looked bool
}

// lookAtArrival finds out once what the order asks of the publish in hand.
func (sh *shard) lookAtArrival(q *Queue, o *op) {
	if in := &sh.arriving; !in.looked {
		in.looked = true
		g := q.after.Graph()
		g.Look(&in.Arrival, o.env, sh.isCopy(g, o))
	}
}

// isCopy reports whether the op brings a copy of a message of the order.
func (sh *shard) isCopy(g *dependency.Graph, o *op) bool {
	var of Loan
	for _, from := range []any{o.extra, o.confirm} {
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

// placesOf is where the messages of loans lie in orders of the shard, of those that do.
func (sh *shard) placesOf(loans []Loan) (all []dependency.At) {
	for _, l := range loans {
		if q := l.Queue; q.shard == sh && !q.gone && q.after != nil {
			all = append(all, dependency.At{In: q.after, Handle: l.Handle})
		}
	}
	return all
}

// freed takes notice that the live ones among n contiguous messages have gone.
func (sh *shard) freed(q *Queue, h queue.Handle, n, live int) {
	q.after.Went(h, n, live)
	if q.early != nil {
		queue.EachIn(q.early.keys, h, n, func(h queue.Handle) { delete(q.early.keys, h) })
	}
}

// recallOrder finds out after a start what is blocked, and what stands before where it came.
func (sh *shard) recallOrder(g *dependency.Graph) {
	r := sh.b.store.NewReader(sh.id)
	read := func(index uint64, sub uint32) (message.Envelope, bool, error) {
		fact, err := r.Read(index, sub)
		if err != nil {
			return nil, false, err
		}
		env, err := bodyOf(fact, &sh.scratch)
		return env, sh.scratch.Copied, err
	}
	newest := map[*Queue]*Order{}
	g.Recall(read, func(o dependency.Queue, h queue.Handle) {
		if sh.b.opts.Order == nil {
			return
		}
		q := o.(orderedQueue).q
		if newest[q] == nil {
			newest[q] = &Order{At: math.MinInt64}
		}
		sh.recallEarly(q, h, newest[q])
	})
}

// recallEarly gives the message in hand its place when that is before one that was read.
func (sh *shard) recallEarly(q *Queue, h queue.Handle, newest *Order) {
	at, ok := sh.b.opts.Order(sh.scratch.Env)
	switch {
	case !ok:
	case at.compare(*newest) < 0:
		sh.goEarly(q, h, at)
	default:
		*newest = at
	}
}
