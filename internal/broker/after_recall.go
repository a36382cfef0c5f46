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

// recallOrder finds out after a start what is blocked. It reads the messages of all the queues in the order of the log, in which they came.
func (sh *shard) recallOrder(o *order) {
	var all []recalled
	for slot := range o.slots {
		o.slots[slot].q.state.Each(0, func(it *queue.Item, _ queue.Status) bool {
			all = append(all, recalled{it.Index, it.Sub, uint32(slot), it.Handle})
			return true
		})
	}
	slices.SortFunc(all, recalled.compare)
	r := sh.b.store.NewReader(sh.id)
	var in arrival
	newest := make([]Order, len(o.slots))
	for i := range newest {
		newest[i].At = math.MinInt64
	}
	for len(all) > 0 {
		at := all[0]
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
		for _, m := range all[:n] {
			q := o.slots[m.slot].q
			sh.arrive(q, m.h, &in)
			if err == nil && sh.b.opts.Order != nil {
				sh.recallEarly(q, m.h, &newest[m.slot])
			}
		}
		all = all[n:]
	}
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
