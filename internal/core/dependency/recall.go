package dependency

import (
	"cmp"
	"slices"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// recalled is a message in a queue, with its position in the log.
type recalled struct {
	index uint64
	sub   uint32
	m     *Member
	h     queue.Handle
}

func (r recalled) compare(o recalled) int {
	return cmp.Or(cmp.Compare(r.index, o.index), cmp.Compare(r.sub, o.sub), cmp.Compare(r.m.slot, o.m.slot), cmp.Compare(r.h, o.h))
}

// Recall determines after a start which messages are blocked, because the log does not record it.
// It reads the messages of all queues in log order, which is their order of arrival. read returns a
// message and whether it is a copy; each is called with every position of a message that could be
// read. A message that cannot be read names none; its delivery reports the error.
func (g *Graph) Recall(read func(index uint64, sub uint32) (env message.Envelope, copied bool, err error), each func(q Queue, h queue.Handle)) {
	var all []recalled
	for i := range g.slots {
		m := g.slots[i].m
		m.state.Each(0, func(it *queue.Item, _ queue.Status) bool {
			all = append(all, recalled{it.Index, it.Sub, m, it.Handle})
			return true
		})
	}
	slices.SortFunc(all, recalled.compare)
	var in Arrival
	for len(all) > 0 {
		at := all[0]
		n := 1 // the same message in several queues
		for n < len(all) && all[n].index == at.index && all[n].sub == at.sub {
			n++
		}
		env, copied, err := read(at.index, at.sub)
		if err == nil {
			g.Look(&in, env, copied)
		} else {
			in = Arrival{}
		}
		for _, r := range all[:n] {
			r.m.Arrive(r.h, &in)
			if err == nil {
				each(r.m.queue, r.h)
			}
		}
		all = all[n:]
	}
}
