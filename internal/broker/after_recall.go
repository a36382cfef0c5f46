package broker

import (
	"cmp"
	"math"
	"slices"

	"fiveways/internal/core/queue"
)

// recalled is a message of the log in an order.
type recalled struct {
	index uint64
	sub   uint32
	slot  uint32
	h     queue.Handle
}

func (r recalled) compare(o recalled) int {
	return cmp.Or(cmp.Compare(r.index, o.index), cmp.Compare(r.sub, o.sub), cmp.Compare(r.slot, o.slot), cmp.Compare(r.h, o.h))
}

// recalledCopy is a message that is older than its place in the log.
type recalledCopy struct {
	recalled
	sum   idSum
	index uint64 // it counts as published before the message at
	sub   uint32
}

// recallOrder finds out after a start what is blocked: for each message what came before it and is still there. It reads the bodies of all the
// queues in the order of the log; twice when copies are among them, which have their places before messages that were read by then.
func (sh *shard) recallOrder(o *order) {
	var all []recalled
	for slot := range o.slots {
		o.slots[slot].q.state.Each(0, func(it *queue.Item, _ queue.Status) bool {
			all = append(all, recalled{it.Index, it.Sub, uint32(slot), it.Handle})
			return true
		})
	}
	slices.SortFunc(all, recalled.compare)
	copies := sh.recallInto(o, all, nil)
	if len(copies) == 0 {
		return
	}
	slices.SortFunc(copies, func(a, b recalledCopy) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.sub, b.sub), a.recalled.compare(b.recalled))
	})
	o.startOver()
	sh.recallInto(o, all, copies)
}

// startOver forgets all that is known of the messages.
func (o *order) startOver() {
	o.ids, o.live = newIDs(), 0
	for i := range o.slots {
		o.slots[i].entries = 0
		o.slots[i].q.endEarly()
		a := o.slots[i].q.after
		for h := range a.left {
			o.slots[i].q.state.Unblock(h)
		}
		clear(a.left)
		clear(a.waited)
	}
	clear(o.asked)
}

// recallInto adds the messages in the order of the log, with copies at their places, and returns the copies that it finds.
func (sh *shard) recallInto(o *order, all []recalled, copies []recalledCopy) (found []recalledCopy) {
	known := len(copies) > 0
	r := sh.b.store.NewReader(sh.id)
	var in arrival
	newest := make([]Order, len(o.slots))
	for i := range newest {
		newest[i].At = math.MinInt64
	}
	for len(all) > 0 {
		at := all[0]
		for len(copies) > 0 && cmp.Or(cmp.Compare(copies[0].index, at.index), cmp.Compare(copies[0].sub, at.sub)) <= 0 {
			o.nameCopy(&copies[0])
			copies = copies[1:]
		}
		n := 1 // one message, in several queues
		for n < len(all) && all[n].index == at.index && all[n].sub == at.sub {
			n++
		}
		fact, err := r.Read(at.index, at.sub)
		if err == nil {
			env, e := publishedEnvelope(fact, &sh.scratch)
			if err = e; err == nil {
				o.look(&in, env, sh.scratch.copied)
			}
		}
		if err != nil {
			in = arrival{} // its delivery will tell
		}
		if in.named && sh.scratch.copied && (sh.scratch.index != at.index || sh.scratch.sub != at.sub) {
			for _, m := range all[:n] {
				found = append(found, recalledCopy{m, in.sum, sh.scratch.index, sh.scratch.sub})
			}
			in.named = !known
		}
		for _, m := range all[:n] {
			sh.recallOne(o, &m, &in)
			if err == nil && sh.b.opts.Order != nil {
				sh.recallEarly(o.slots[m.slot].q, m.h, &newest[m.slot])
			}
		}
		all = all[n:]
	}
	for i := range copies {
		o.nameCopy(&copies[i])
	}
	return found
}

// recallOne puts a message to its place in the order.
func (sh *shard) recallOne(o *order, m *recalled, in *arrival) {
	q := o.slots[m.slot].q
	one := *in
	if s := q.state.Status(m.h); s != queue.Ready && s != queue.Scheduled {
		one.on = nil // a dead letter that must arrive
	}
	if o.put(q, m.h, &one) {
		q.state.Block(m.h)
	}
}

// nameCopy makes a copy known.
func (o *order) nameCopy(c *recalledCopy) {
	o.slots[c.slot].entries++
	o.ids.add(c.sum, c.slot, c.h)
}

// recallEarly gives the message in hand its place when that is before one that was read.
func (sh *shard) recallEarly(q *Queue, h queue.Handle, newest *Order) {
	at, ok := sh.b.opts.Order(sh.scratch.env)
	switch {
	case !ok:
	case at.compare(*newest) < 0:
		sh.goEarly(q, h, at)
	default:
		*newest = at
	}
}
