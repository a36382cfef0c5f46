package broker

import (
	"slices"

	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
)

// arrival is what the order asks of a message on its way in, the same for all its queues.
type arrival struct {
	looked bool
	named  bool
	sum    idSum
	sums   []idSum // the ids that it names, without its own
	age    uint64  // ask.age, when it names any
	copied bool    // it is a copy of a message of the order, and named others
}

// arrange takes notice of a message that was put into a queue.
func (sh *shard) arrange(q *Queue, h queue.Handle, o *op) {
	in := &sh.arriving
	if !in.looked {
		q.after.order.look(in, o.env, sh.isCopy(q.after.order, o))
	}
	sh.arrive(q, h, in)
}

// isCopy tells whether the op brings a copy of a message of the order.
func (sh *shard) isCopy(order *order, o *op) bool {
	var of spot
	for _, from := range []any{o.extra, o.confirm} {
		switch d := from.(type) {
		case *handover:
			of = spot{d.source, d.handle}
		case *sureLetter:
			of = spot{d.source, d.wait.handle}
		case *Loan:
			of = spot{d.Queue, d.Handle}
		}
	}
	return of.q != nil && of.q.shard == sh && !of.q.gone && of.q.after != nil && of.q.after.order == order &&
		of.q.state.Status(of.h) != queue.Gone
}

// look finds out what a message is called and whom it names. A copy names nobody: what it named may wait for it.
func (o *order) look(in *arrival, env message.Envelope, copied bool) {
	*in = arrival{looked: true, sums: in.sums[:0]}
	peek, err := message.PeekProperties(env.Properties())
	if err != nil {
		return
	}
	if in.named = len(peek.MessageID) > 0; in.named {
		in.sum = sumOf(peek.MessageID)
	}
	if len(peek.Headers) == 0 {
		return
	}
	if v, ok := message.HeaderLookup(peek.Headers, afterHeader); ok && copied {
		in.copied = true
	} else if ok {
		in.names(awaited(v))
	}
	if len(in.sums) > 0 {
		o.clock++
		in.age = o.clock
	}
}

// names notes the ids that a message names.
func (in *arrival) names(all []string) {
	for _, id := range all {
		if sum := sumOf([]byte(id)); !in.named || sum != in.sum {
			in.sums = append(in.sums, sum)
		}
	}
	if len(in.sums) > 1 { // one may be named twice
		slices.SortFunc(in.sums, idSum.compare)
		in.sums = slices.Compact(in.sums)
	}
}

// arrive notes a message in a queue, and blocks what has to wait now: it, or others for it.
func (sh *shard) arrive(q *Queue, h queue.Handle, in *arrival) {
	o := q.after.order
	o.live++
	var mine *asked
	if in.named && !q.Declared.Unawaited {
		o.name(q, h, in.sum)
		if mine = o.asked[in.sum]; mine != nil {
			q.after.waited[h] = mine
			mine.there++
		}
	}
	if len(in.sums) > 0 {
		a := o.ask(q, h, in)
		sh.encircle(o, a)
		for i := range a.edges {
			sh.look(o, naming{a, int32(i)})
		}
	}
	if mine != nil {
		sh.came(o, mine)
	}
}

// cleanEach is how many buckets are cleaned for each message that comes: two let no more gather of those that are gone than live.
const cleanEach = 2

// name makes a message known by its id.
func (o *order) name(q *Queue, h queue.Handle, sum idSum) {
	slot := q.after.slot
	o.slots[slot].entries++
	o.ids.add(sum, slot, h)
	o.ids.clean(cleanEach, o.forget)
}
