package dependency

import (
	"cmp"
	"slices"

	"fiveways.dev/fiveways/internal/core/idindex"
	"fiveways.dev/fiveways/internal/core/queue"
)

// dependent is a message that names others. Its edges are maintained in every state: while it is
// lent it is not blocked, but it will be when it returns.
//
// Invariant: left is the number of edges that are on. While it is not 0, the message is neither
// ready nor scheduled.
type dependent struct {
	in    *Member
	h     queue.Handle
	own   idindex.Sum // its id
	named bool        // it has an id
	late  bool        // older messages do not wait for it
	gone  bool
	age   uint64 // grows with each message; equal in all queues of one message
	left  int32
	edges []edge
}

// edge is an id that a message names.
type edge struct {
	to *dependency
	on bool // the message waits for messages with the id
}

// dependency is an id that messages name.
//
// Invariant: live is not 0. there is the number of messages that have it in Member.waited.
type dependency struct {
	sum   idindex.Sum
	by    []reference // including references of removed messages
	live  int         // live references in by
	there int         // messages with the id
}

// reference refers to an edge of a message.
type reference struct {
	*dependent
	edge int32
}

// depend adds a message that names others.
func (m *Member) depend(h queue.Handle, in *Arrival) *dependent {
	g := m.graph
	a := &dependent{in: m, h: h, own: in.sum, named: in.named, age: in.age, edges: make([]edge, len(in.sums))}
	for i, sum := range in.sums {
		r := g.named[sum]
		if r == nil {
			r = &dependency{sum: sum}
			g.named[sum] = r
			for at := range g.With(sum) {
				at.In.waited[at.Handle] = r
				r.there++
			}
		}
		r.by = append(r.by, reference{a, int32(i)})
		r.live++
		a.edges[i].to = r
	}
	m.dependents[h] = a
	return a
}

// drop removes a message that named others.
func (g *Graph) drop(a *dependent) {
	a.gone = true
	delete(a.in.dependents, a.h)
	for _, e := range a.edges {
		r := e.to
		if r.live--; r.live == 0 {
			g.forgetDependency(r)
		} else if len(r.by) > 2*r.live+8 {
			r.by = slices.DeleteFunc(r.by, func(n reference) bool { return n.gone })
		}
	}
	g.leave(a)
}

// forgetDependency removes an id that no message names now.
func (g *Graph) forgetDependency(r *dependency) {
	delete(g.named, r.sum)
	for e := g.ids.First(r.sum); e != 0; e = g.ids.Next(e) {
		en := g.ids.Entry(e)
		if m := g.slots[en.Slot].m; m != nil {
			delete(m.waited, en.Handle)
		}
	}
}

// came updates the messages that name an id, because a message with this id exists now.
func (g *Graph) came(r *dependency) {
	if r.there == 1 || !g.plain(r) {
		g.review(r)
	}
}

// went records that a message with an id that others name was removed.
func (m *Member) went(h queue.Handle) {
	g, r := m.graph, m.waited[h]
	delete(m.waited, h)
	if r.there--; r.there == 0 || !g.plain(r) {
		g.review(r)
	}
}

// review determines again which messages wait for an id.
func (g *Graph) review(r *dependency) {
	for _, n := range r.by {
		if !n.gone {
			g.look(n)
		}
	}
}

// look determines whether a message waits for an id that it names, and blocks or unblocks it.
func (g *Graph) look(n reference) {
	e := &n.edges[n.edge]
	on := g.waits(n.dependent, e.to)
	if on == e.on {
		return
	}
	if e.on = on; on {
		if n.left++; n.left == 1 {
			n.in.state.Block(n.h)
		}
		return
	}
	if n.left--; n.left == 0 && n.in.state.Unblock(n.h) {
		n.in.queue.Unblocked(n.h)
	}
}

// waits reports whether a message must wait for a message with an id that it names.
func (g *Graph) waits(a *dependent, r *dependency) bool {
	if r.there == 0 || g.plain(r) {
		return r.there > 0
	}
	together := g.together(a, r)
	for at := range g.With(r.sum) {
		if m := at.In.dependents[at.Handle]; m == nil || m.age < a.age || !together && !m.late {
			return true
		}
	}
	return false
}

// plain reports whether all messages that name an id wait for each message with it.
func (g *Graph) plain(r *dependency) bool { return g.late == 0 && g.circle[r.sum] == 0 }

// Block blocks those of n contiguous returned messages that wait for others.
func (m *Member) Block(h queue.Handle, n int) {
	queue.EachIn(m.dependents, h, n, func(h queue.Handle) {
		if m.dependents[h].left > 0 {
			m.state.Block(h)
		}
	})
}

// FreedBy returns, in queue order, the blocked messages of the queue that wait only for the given
// messages. It omits messages that are due after now, unix ms.
func (m *Member) FreedBy(some []At, now int64) (free []queue.Handle) {
	on := map[At]bool{}
	ids := map[*dependency]bool{}
	for _, at := range some {
		on[at] = true
	}
	for at := range on {
		if at.In.graph != m.graph {
			continue
		}
		if r := at.In.waited[at.Handle]; r != nil && m.graph.onlyIn(on, r.sum) {
			ids[r] = true
		}
	}
	waits := map[queue.Handle]int32{} // ids that a message no longer waits for
	for r := range ids {
		for _, n := range r.by {
			if n.in == m && !n.gone && n.edges[n.edge].on {
				waits[n.h]++
			}
		}
	}
	for h, n := range waits {
		it, status := m.state.Get(h)
		if status == queue.Blocked && n == m.dependents[h].left && it.Due <= now {
			free = append(free, h)
		}
	}
	slices.SortFunc(free, func(a, b queue.Handle) int { return cmp.Compare(queue.PlaceOf(a), queue.PlaceOf(b)) })
	return free
}

// onlyIn reports whether all messages with an id are among the given ones.
func (g *Graph) onlyIn(some map[At]bool, sum idindex.Sum) bool {
	for at := range g.With(sum) {
		if !some[at] {
			return false
		}
	}
	return true
}
