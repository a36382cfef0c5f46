package dependency

import (
	"slices"

	"fiveways.dev/fiveways/internal/core/consumeafter"
	"fiveways.dev/fiveways/internal/core/idindex"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// Arrival holds the ids of an arriving message, for all its queues in one graph. The zero value is
// a message without an id that names no others. An Arrival is reused.
type Arrival struct {
	named  bool
	sum    idindex.Sum
	sums   []idindex.Sum // the ids that it names, except its own
	age    uint64        // dependent.age if it names any
	copied bool          // it is a copy of a message of the graph that named others
}

// Copied reports whether the message is a copy of one in the graph that named others.
func (in *Arrival) Copied() bool { return in.copied }

// Look reads the id of a message and the ids that it names. A copy names none, because messages
// that it named may wait for it.
func (g *Graph) Look(in *Arrival, env message.Envelope, copied bool) {
	*in = Arrival{sums: in.sums[:0]}
	peek, err := message.PeekProperties(env.Properties())
	if err != nil {
		return
	}
	if in.named = len(peek.MessageID) > 0; in.named {
		in.sum = idindex.SumOf(peek.MessageID)
	}
	ids, ok := consumeafter.IDs(peek.Headers)
	if in.copied = ok && copied; ok && !copied {
		in.names(ids)
	}
	if len(in.sums) > 0 {
		g.clock++
		in.age = g.clock
	}
}

// names stores the ids that a message names.
func (in *Arrival) names(all []string) {
	for _, id := range all {
		if sum := idindex.SumOf([]byte(id)); !in.named || sum != in.sum {
			in.sums = append(in.sums, sum)
		}
	}
	if len(in.sums) > 1 { // duplicates are possible
		slices.SortFunc(in.sums, idindex.Sum.Compare)
		in.sums = slices.Compact(in.sums)
	}
}

// Arrive adds a message to the queue, and blocks messages that now have to wait: this one, or
// others that wait for it.
func (m *Member) Arrive(h queue.Handle, in *Arrival) {
	g := m.graph
	g.live++
	var mine *dependency
	if in.named && !m.unawaited {
		m.name(h, in.sum)
		if mine = g.named[in.sum]; mine != nil {
			m.waited[h] = mine
			mine.there++
		}
	}
	if len(in.sums) > 0 {
		a := m.depend(h, in)
		g.encircle(a)
		for i := range a.edges {
			g.look(reference{a, int32(i)})
		}
	}
	if mine != nil {
		g.came(mine)
	}
}

// cleanEach is how many buckets are cleaned for each message that arrives. With two, removed
// messages never outnumber live ones.
const cleanEach = 2

// name indexes a message by its id.
func (m *Member) name(h queue.Handle, sum idindex.Sum) {
	g := m.graph
	g.slots[m.slot].entries++
	g.ids.Add(sum, m.slot, h)
	g.ids.Clean(cleanEach, g.forget)
}
