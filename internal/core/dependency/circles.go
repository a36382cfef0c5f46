package dependency

import (
	"maps"
	"slices"

	"fiveways.dev/fiveways/internal/core/idindex"
)

// circles holds the cycles in which the ids of a graph name each other: an id names another one if
// a message with that id does. Two ids are in one circle if each leads to the other, so no two
// circles share an id.
//
// Messages never wait for each other in a cycle: their ids would all be in one circle, and within a
// circle a message waits only for older messages and for those that name none. So every circle must
// be known. The graph searches for it when its last message arrives, which closes it; if that takes
// too long, no earlier message waits for that last one. Removing a message can only break circles.
type circles struct {
	circle map[idindex.Sum]uint64 // the number of an id's circle
	number uint64                 // the last number that was used
	broken int                    // messages of circles that were removed since the last search
	late   int                    // messages with dependent.late
}

// longestSearch is roughly the number of edges that a search for a circle follows.
const longestSearch = 1 << 17

// together reports whether a message and an id that it names are in one circle.
func (g *Graph) together(a *dependent, r *dependency) bool {
	c := g.circle[r.sum]
	return c != 0 && a.named && g.circle[a.own] == c
}

// within reports whether a message names only ids of its own circle.
func (g *Graph) within(a *dependent) bool {
	for i := range a.edges {
		if !g.together(a, a.edges[i].to) {
			return false
		}
	}
	return g.late == 0
}

// encircle checks whether a new message closes a circle.
func (g *Graph) encircle(a *dependent) {
	if !a.named || g.named[a.own] == nil || g.within(a) {
		return
	}
	there, back := newWalk(a.own, g.leadsTo), newWalk(a.own, g.leadsFrom)
	for !there.done() || !back.done() {
		switch {
		case there.open(), back.open():
			return
		case there.cost+back.cost > longestSearch:
			a.late = true
			g.late++
			return
		}
		there.step()
		back.step()
	}
	if there.open() || back.open() {
		return
	}
	var all []idindex.Sum
	for sum := range there.seen {
		if back.seen[sum] {
			all = append(all, sum)
		}
	}
	g.draw(all)
	g.reviewAll(all)
}

// draw records that these ids form a circle.
func (g *Graph) draw(all []idindex.Sum) {
	if g.circle == nil {
		g.circle = map[idindex.Sum]uint64{}
	}
	g.number++
	for _, sum := range all {
		g.circle[sum] = g.number
	}
}

func (g *Graph) reviewAll(all []idindex.Sum) {
	slices.SortFunc(all, idindex.Sum.Compare)
	for _, sum := range all {
		if r := g.named[sum]; r != nil {
			g.review(r)
		}
	}
}

// leadsTo calls fn for the ids that messages with this id name.
func (g *Graph) leadsTo(sum idindex.Sum, fn func(idindex.Sum)) {
	for at := range g.With(sum) {
		if a := at.In.dependents[at.Handle]; a != nil {
			for i := range a.edges {
				fn(a.edges[i].to.sum)
			}
		}
	}
}

// leadsFrom calls fn for the ids of messages that name this id.
func (g *Graph) leadsFrom(sum idindex.Sum, fn func(idindex.Sum)) {
	if r := g.named[sum]; r != nil {
		for _, n := range r.by {
			if !n.gone && n.named {
				fn(n.own)
			}
		}
	}
}

// walk visits all ids that can be reached from an id.
type walk struct {
	leads func(idindex.Sum, func(idindex.Sum))
	from  idindex.Sum
	seen  map[idindex.Sum]bool // includes from only if the walk came back to it
	next  []idindex.Sum
	cost  int // edges
}

func newWalk(from idindex.Sum, leads func(idindex.Sum, func(idindex.Sum))) *walk {
	return &walk{leads: leads, from: from, seen: map[idindex.Sum]bool{}, next: []idindex.Sum{from}}
}

func (w *walk) done() bool { return len(w.next) == 0 }

// open reports whether the walk has ended without coming back.
func (w *walk) open() bool { return w.done() && !w.seen[w.from] }

func (w *walk) step() {
	n := len(w.next) - 1
	if n < 0 {
		return
	}
	at := w.next[n]
	w.next = w.next[:n]
	w.leads(at, func(to idindex.Sum) {
		w.cost++
		if !w.seen[to] {
			if w.seen[to] = true; to != w.from {
				w.next = append(w.next, to)
			}
		}
	})
}

// leave records that a message that named others was removed.
func (g *Graph) leave(a *dependent) {
	if a.late {
		g.late--
	}
	if a.named && g.circle[a.own] != 0 {
		g.broken++
	}
}

// Up to this many ids in circles, circles are searched again whenever a message of one is removed;
// with more, only after a share of their messages was removed.
const (
	fewCircled   = 256
	partOfCircle = 8
)

// untangle searches for the remaining circles, and blocks messages that were ready only because of
// broken ones.
func (g *Graph) untangle() {
	if g.broken == 0 || len(g.circle) > fewCircled && g.broken < len(g.circle)/partOfCircle {
		return
	}
	g.broken = 0
	old := g.circle
	g.circle = nil
	all := slices.SortedFunc(maps.Keys(old), idindex.Sum.Compare)
	t := tangle{leads: func(sum idindex.Sum, fn func(idindex.Sum)) {
		g.leadsTo(sum, func(to idindex.Sum) {
			if old[to] == old[sum] {
				fn(to)
			}
		})
	}, place: map[idindex.Sum]int{}, low: map[idindex.Sum]int{}}
	for _, sum := range all {
		if t.place[sum] == 0 {
			t.from(sum, g.draw)
		}
	}
	g.reviewAll(all)
}

// tangle finds circles with Tarjan's algorithm (R. Tarjan, Depth-first search and linear graph
// algorithms, 1972).
type tangle struct {
	leads func(idindex.Sum, func(idindex.Sum))
	place map[idindex.Sum]int // in order of discovery, from 1; -1: its circle is known
	low   map[idindex.Sum]int // the lowest place that an id is known to reach
	met   int
	stack []idindex.Sum // ids whose circle is not known yet
}

// from draws the circles that can be reached from an id.
func (t *tangle) from(sum idindex.Sum, draw func([]idindex.Sum)) {
	type visit struct {
		sum  idindex.Sum
		next []idindex.Sum
	}
	var path []visit
	enter := func(sum idindex.Sum) {
		t.met++
		t.place[sum], t.low[sum] = t.met, t.met
		t.stack = append(t.stack, sum)
		v := visit{sum: sum}
		t.leads(sum, func(to idindex.Sum) { v.next = append(v.next, to) })
		path = append(path, v)
	}
	enter(sum)
	for len(path) > 0 {
		v := &path[len(path)-1]
		if n := len(v.next); n > 0 {
			to := v.next[n-1]
			v.next = v.next[:n-1]
			if at := t.place[to]; at == 0 {
				enter(to)
			} else if at > 0 {
				t.low[v.sum] = min(t.low[v.sum], at)
			}
			continue
		}
		sum := v.sum
		if path = path[:len(path)-1]; len(path) > 0 {
			up := path[len(path)-1].sum
			t.low[up] = min(t.low[up], t.low[sum])
		}
		if t.low[sum] == t.place[sum] {
			t.finish(sum, draw)
		}
	}
}

// finish removes an id, and the ids in a circle with it, from the stack.
func (t *tangle) finish(sum idindex.Sum, draw func([]idindex.Sum)) {
	i := len(t.stack)
	for done := false; !done; {
		i--
		done = t.stack[i] == sum
		t.place[t.stack[i]] = -1
	}
	all := t.stack[i:]
	if len(all) > 1 {
		draw(all)
	}
	t.stack = t.stack[:i]
}
