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
	on     []blocker
	source spot // it is a copy of this one, which is in the order too; q is nil when it is none
	ahead  bool // it counts as published before the message at:
	index  uint64
	sub    uint32
}

// blocker is the youngest message with an id that another one names.
type blocker struct {
	spot
	sum idSum
}

// arrange takes notice of a message that was put into a queue and tells whether it is blocked.
func (sh *shard) arrange(q *Queue, h queue.Handle, o *op) bool {
	in := &sh.arriving
	if !in.looked {
		q.after.order.look(in, o.env)
		if src, at := o.source(); src != nil && src.shard == sh && !src.gone && src.after != nil && in.named {
			src.after.order.becomeCopy(in, spot{src, at})
		}
	}
	return q.after.order.put(q, h, in)
}

// source is the message of which the op brings a copy.
func (o *op) source() (*Queue, queue.Handle) {
	for _, from := range []any{o.extra, o.confirm} {
		switch d := from.(type) {
		case *handover:
			return d.source, d.handle
		case *sureLetter:
			return d.source, d.wait.handle
		case *Loan:
			return d.Queue, d.Handle
		}
	}
	return nil, 0
}

// deathHeader tells a dead letter.
const deathHeader = "x-death"

// look finds out what a message is called and whom it has to wait for.
func (o *order) look(in *arrival, env message.Envelope) {
	*in = arrival{looked: true, on: in.on[:0]}
	peek, err := message.PeekProperties(env.Properties())
	if err != nil {
		return
	}
	if len(peek.Headers) > 0 && o.ids.used > 0 {
		if v, ok := message.HeaderLookup(peek.Headers, afterHeader); ok {
			if _, died := message.HeaderLookup(peek.Headers, deathHeader); !died {
				o.await(in, v)
			}
		}
	}
	if in.named = len(peek.MessageID) > 0; in.named {
		in.sum = sumOf(peek.MessageID)
	}
}

// await finds the messages that the header names.
func (o *order) await(in *arrival, header any) {
	for _, id := range awaited(header) {
		sum := sumOf([]byte(id))
		if slices.ContainsFunc(in.on, func(b blocker) bool { return b.sum == sum }) {
			continue // named twice
		}
		if at := o.youngest(sum); at.q != nil {
			in.on = append(in.on, blocker{at, sum})
		}
	}
}

// becomeCopy gives a message the age of the one that it is a copy of. When there are some that wait for that one, the age is recorded: it counts
// as published before the first of those that the log has.
func (o *order) becomeCopy(in *arrival, of spot) {
	source := o.ids.find(in.sum, of.q.after.slot, of.h)
	if source == 0 {
		return
	}
	in.source = of
	for e := o.ids.first(in.sum); ; e = o.ids.next(e) {
		en := o.ids.entry(e)
		if q := o.slots[en.slot].q; q != nil {
			if w := q.after.waited[en.h]; w != nil {
				in.goBefore(w)
			}
		}
		if e == source {
			return
		}
	}
}

// goBefore notes the first persistent message that waits.
func (in *arrival) goBefore(w *waited) {
	for _, at := range w.by {
		if !at.waits() {
			continue
		}
		if it, _ := at.q.state.Get(at.h); it.Flags&queue.Persistent != 0 {
			in.ahead, in.index, in.sub = true, it.Index, it.Sub
			return
		}
	}
}

// waits tells whether the message is still there and waits for something.
func (at spot) waits() bool { return !at.q.gone && at.q.after.left[at.h] > 0 }

// put notes a message in a queue and tells whether it is blocked.
func (o *order) put(q *Queue, h queue.Handle, in *arrival) bool {
	o.live++
	for _, b := range in.on {
		b.q.after.hang(b.h, b.sum, spot{q, h})
	}
	if len(in.on) > 0 {
		q.after.left[h] = int32(len(in.on))
	}
	if in.named {
		o.name(q, h, in)
	}
	return len(in.on) > 0
}

// cleanEach is how many buckets are cleaned for each message that comes: two let no more gather of those that are gone than live.
const cleanEach = 2

// name makes a message known by its id.
func (o *order) name(q *Queue, h queue.Handle, in *arrival) {
	slot := q.after.slot
	o.slots[slot].entries++
	source := uint32(0)
	if in.source.q != nil {
		source = o.ids.find(in.sum, in.source.q.after.slot, in.source.h)
	}
	if source != 0 {
		o.ids.addBehind(source, slot, h)
	} else {
		o.ids.add(in.sum, slot, h)
	}
	o.ids.clean(cleanEach, o.forget)
}
