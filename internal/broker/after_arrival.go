package broker

import (
	"bytes"
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
	source spot // it is a copy of this one, and has its age; q is nil when that makes no difference
	copied bool // it is a copy of a message of the order that waits for nothing or counts as published before the message at:
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
		of, copied := sh.source(q.after.order, o)
		q.after.order.look(in, o.env, copied)
		in.index, in.sub = sh.index, sh.sub
		if copied && in.named {
			q.after.order.becomeCopy(in, of)
		}
	}
	return q.after.order.put(q, h, in)
}

// source is the message of the order of which the op brings a copy.
func (sh *shard) source(order *order, o *op) (of spot, ok bool) {
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
	ok = of.q != nil && of.q.shard == sh && !of.q.gone && of.q.after != nil && of.q.after.order == order &&
		of.q.state.Status(of.h) != queue.Gone
	return of, ok
}

// look finds out what a message is called and whom it has to wait for. A copy waits for nobody: it is older than it looks, and what it names may
// wait for it.
func (o *order) look(in *arrival, env message.Envelope, copied bool) {
	*in = arrival{looked: true, on: in.on[:0]}
	peek, err := message.PeekProperties(env.Properties())
	if err != nil {
		return
	}
	if len(peek.Headers) > 0 {
		if v, ok := message.HeaderLookup(peek.Headers, afterHeader); ok && copied {
			in.copied = true
		} else if ok {
			o.await(in, v)
		}
	}
	if in.named = len(peek.MessageID) > 0; in.named {
		in.sum = sumOf(peek.MessageID)
	}
}

// await finds the messages that the header names.
func (o *order) await(in *arrival, header any) {
	var sums []idSum
	for _, id := range awaited(header) {
		sums = append(sums, sumOf([]byte(id)))
	}
	if len(sums) > 1 { // one may be named twice
		slices.SortFunc(sums, func(a, b idSum) int { return bytes.Compare(a[:], b[:]) })
		sums = slices.Compact(sums)
	}
	for _, sum := range sums {
		if at := o.youngest(sum); at.q != nil {
			in.on = append(in.on, blocker{at, sum})
		}
	}
}

// becomeCopy gives a message the age of the one that it is a copy of, when somebody waits for its id: for others the age makes no difference. It is
// recorded too: the copy counts as published before the first of those who wait for it that the log has.
func (o *order) becomeCopy(in *arrival, of spot) {
	if o.asked[in.sum] == 0 {
		return
	}
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

// goBefore makes the message older than those persistent ones that wait.
func (in *arrival) goBefore(w *waited) {
	for _, at := range w.by {
		if !at.waits() {
			continue
		}
		it, _ := at.q.state.Get(at.h)
		if it.Flags&queue.Persistent != 0 && (it.Index < in.index || it.Index == in.index && it.Sub < in.sub) {
			in.copied, in.index, in.sub = true, it.Index, it.Sub
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
