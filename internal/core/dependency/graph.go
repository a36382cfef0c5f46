package dependency

import (
	"iter"
	"maps"
	"slices"

	"fiveways.dev/fiveways/internal/core/idindex"
	"fiveways.dev/fiveways/internal/core/invariants"
	"fiveways.dev/fiveways/internal/core/queue"
)

// Graph is the order that messages ask for in the queues of a virtual host that are on one shard.
// It belongs to the shard.
type Graph struct {
	ids    *idindex.Index
	slots  []slot   // indexed by Entry.Slot
	spare  []uint32 // slots to reuse
	queues int
	live   int                         // messages in the queues, with and without ids
	named  map[idindex.Sum]*dependency // ids that messages name, whether or not such a message exists
	clock  uint64                      // number of messages so far that named others
	circles
}

// slot stands for a queue in entries of the index.
type slot struct {
	m       *Member // nil: removed
	entries int
}

// Queue is what a graph needs from a queue.
type Queue interface {
	// Unblocked reports that a blocked message is now ready.
	Unblocked(h queue.Handle)
}

// Member is a queue in a graph.
//
// Invariant: waited has the messages with an id that others name, dependents those that name
// others. All of them are live.
type Member struct {
	graph      *Graph
	queue      Queue
	state      *queue.Deliveries
	slot       uint32
	unawaited  bool // no message waits for messages of this queue
	waited     map[queue.Handle]*dependency
	dependents map[queue.Handle]*dependent
}

// At is the position of a message.
type At struct {
	In     *Member
	Handle queue.Handle
}

// New returns a graph without queues.
func New() *Graph { return &Graph{ids: idindex.New(), named: map[idindex.Sum]*dependency{}} }

// Empty reports whether no queue is in the graph.
func (g *Graph) Empty() bool { return g.queues == 0 }

// Join adds a queue to the graph, before it has messages. If unawaited, no message waits for
// messages of this queue.
func (g *Graph) Join(q Queue, state *queue.Deliveries, unawaited bool) *Member {
	var at uint32
	if n := len(g.spare); n > 0 {
		at, g.spare = g.spare[n-1], g.spare[:n-1]
	} else {
		at = uint32(len(g.slots))
		g.slots = append(g.slots, slot{})
	}
	m := &Member{
		graph: g, queue: q, state: state, slot: at, unawaited: unawaited,
		waited: map[queue.Handle]*dependency{}, dependents: map[queue.Handle]*dependent{},
	}
	g.slots[at].m = m
	g.queues++
	return m
}

// Graph returns the queue's graph.
func (m *Member) Graph() *Graph { return m.graph }

// Leave removes a queue that is deleted with its messages, and unblocks messages that wait for
// these.
func (m *Member) Leave() {
	g := m.graph
	g.slots[m.slot].m = nil
	g.retire(m.slot)
	g.queues--
	g.live -= m.state.Ready() + m.state.Unacked() + m.state.Scheduled() + m.state.Blocked()
	for _, h := range slices.Sorted(maps.Keys(m.dependents)) {
		g.drop(m.dependents[h])
	}
	for _, h := range slices.Sorted(maps.Keys(m.waited)) {
		m.went(h)
	}
	g.untangle()
}

// retire makes a slot reusable once no entry of its queue is left.
func (g *Graph) retire(slot uint32) {
	if s := &g.slots[slot]; s.m == nil && s.entries == 0 {
		g.spare = append(g.spare, slot)
	}
}

// lives reports whether the message of an entry still exists.
func (g *Graph) lives(en *idindex.Entry) bool {
	m := g.slots[en.Slot].m
	return m != nil && m.state.Status(en.Handle) != queue.Gone
}

// forget reports whether the message of an entry is gone. If so, it also adjusts the counts,
// because the entry will be freed.
func (g *Graph) forget(en *idindex.Entry) bool {
	if g.lives(en) {
		return false
	}
	g.slots[en.Slot].entries--
	g.retire(en.Slot)
	return true
}

// With yields the messages with an id, the youngest first.
func (g *Graph) With(sum idindex.Sum) iter.Seq[At] {
	return func(yield func(At) bool) {
		for e := g.ids.First(sum); e != 0; e = g.ids.Next(e) {
			if en := g.ids.Entry(e); g.lives(en) && !yield(At{g.slots[en.Slot].m, en.Handle}) {
				return
			}
		}
	}
}

// LivesBeside reports whether a message with this id exists that is not among the given ones.
func (g *Graph) LivesBeside(sum idindex.Sum, some []At) bool {
	for at := range g.With(sum) {
		if !slices.Contains(some, at) {
			return true
		}
	}
	return false
}

// First finds the message with an id that comes first in queue order.
func (m *Member) First(messageID string) (h queue.Handle, ok bool) {
	g, best := m.graph, queue.NoPlace
	for e := g.ids.First(idindex.SumOf([]byte(messageID))); e != 0; e = g.ids.Next(e) {
		if en := g.ids.Entry(e); en.Slot == m.slot && g.lives(en) {
			best = min(best, queue.PlaceOf(en.Handle))
		}
	}
	return best.Handle(), best != queue.NoPlace
}

// Went records that n contiguous messages, live of which still existed, were removed. It unblocks
// messages that now wait for nothing.
func (m *Member) Went(h queue.Handle, n, live int) {
	g := m.graph
	g.live -= live
	queue.EachIn(m.dependents, h, n, func(h queue.Handle) { g.drop(m.dependents[h]) })
	queue.EachIn(m.waited, h, n, m.went)
	g.untangle()
}

// Tidy keeps the index of ids small if messages are removed and none arrive. It reports whether it
// has more to do.
func (g *Graph) Tidy() (more bool) {
	if invariants.Enabled {
		g.check()
	}
	if g.live == 0 && g.ids.Room() > idindex.Slack {
		g.clear()
		return false
	}
	return g.ids.Tidy(g.live, g.forget)
}

// clear removes all entries.
func (g *Graph) clear() {
	g.ids = idindex.New()
	for i := range g.slots {
		if s := &g.slots[i]; s.entries > 0 {
			s.entries = 0
			g.retire(uint32(i))
		}
	}
}
