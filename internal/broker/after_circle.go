package broker

import (
	"maps"
	"slices"
)

// circles are the ids of an order that name each other in a circle: an id names another one when a message with it does. Two ids are in one circle
// when each leads to the other, so no two circles share an id.
//
// Messages never wait for each other in a circle: all their ids would be in one circle here, and in there each message waits only for older ones
// and for those that name nobody. For that each circle must be known. The message that comes last closes it, and then it is looked for; when
// that takes too long, nobody who came before that message waits for it. What goes only breaks circles.
type circles struct {
	circle map[idSum]uint64 // the number of the circle of an id
	number uint64           // the last one that was given
	broken int              // messages that went from circles since these were looked at
	late   int              // messages with ask.late
}

// longestSearch is how many edges are looked at, about, for a circle that a message closes.
const longestSearch = 1 << 17

// together tells whether a message and an id that it names are in one circle.
func (o *order) together(a *ask, r *asked) bool {
	c := o.circle[r.sum]
	return c != 0 && a.named && o.circle[a.own] == c
}

// within tells whether a message names only ids of its own circle.
func (o *order) within(a *ask) bool {
	for i := range a.edges {
		if !o.together(a, a.edges[i].to) {
			return false
		}
	}
	return o.late == 0
}

// encircle finds out whether a message that has just come closes a circle.
func (sh *shard) encircle(o *order, a *ask) {
	if !a.named || o.asked[a.own] == nil || o.within(a) {
		return
	}
	there, back := newWalk(a.own, o.leadsTo), newWalk(a.own, o.leadsFrom)
	for !there.done() || !back.done() {
		switch {
		case there.open(), back.open():
			return
		case there.cost+back.cost > longestSearch:
			a.late = true
			o.late++
			return
		}
		there.step()
		back.step()
	}
	if there.open() || back.open() {
		return
	}
	var all []idSum
	for sum := range there.seen {
		if back.seen[sum] {
			all = append(all, sum)
		}
	}
	o.draw(all)
	sh.reviewAll(o, all)
}

// draw makes ids a circle.
func (o *order) draw(all []idSum) {
	if o.circle == nil {
		o.circle = map[idSum]uint64{}
	}
	o.number++
	for _, sum := range all {
		o.circle[sum] = o.number
	}
}

func (sh *shard) reviewAll(o *order, all []idSum) {
	slices.SortFunc(all, idSum.compare)
	for _, sum := range all {
		if r := o.asked[sum]; r != nil {
			sh.review(o, r)
		}
	}
}

// leadsTo calls fn for the ids that messages with an id name.
func (o *order) leadsTo(sum idSum, fn func(idSum)) {
	for at := range o.with(sum) {
		if a := at.q.after.asks[at.h]; a != nil {
			for i := range a.edges {
				fn(a.edges[i].to.sum)
			}
		}
	}
}

// leadsFrom calls fn for the ids of messages that name an id.
func (o *order) leadsFrom(sum idSum, fn func(idSum)) {
	if r := o.asked[sum]; r != nil {
		for _, n := range r.by {
			if !n.gone && n.named {
				fn(n.own)
			}
		}
	}
}

// walk goes from an id to all to which it leads.
type walk struct {
	leads func(idSum, func(idSum))
	from  idSum
	seen  map[idSum]bool // from only when the walk came back to it
	next  []idSum
	cost  int // edges
}

func newWalk(from idSum, leads func(idSum, func(idSum))) *walk {
	return &walk{leads: leads, from: from, seen: map[idSum]bool{}, next: []idSum{from}}
}

func (w *walk) done() bool { return len(w.next) == 0 }

// open tells that the walk is over and did not come back.
func (w *walk) open() bool { return w.done() && !w.seen[w.from] }

func (w *walk) step() {
	n := len(w.next) - 1
	if n < 0 {
		return
	}
	at := w.next[n]
	w.next = w.next[:n]
	w.leads(at, func(to idSum) {
		w.cost++
		if !w.seen[to] {
			if w.seen[to] = true; to != w.from {
				w.next = append(w.next, to)
			}
		}
	})
}

// leave takes notice that a message that named others has gone.
func (o *order) leave(a *ask) {
	if a.late {
		o.late--
	}
	if a.named && o.circle[a.own] != 0 {
		o.broken++
	}
}

// Up to so many ids in circles are looked at each time when a message goes from one; more when a part of them went.
const (
	fewCircled   = 256
	partOfCircle = 8
)

// untangle finds out what is left of the circles, and has those wait who were kept from it by what is not.
func (sh *shard) untangle(o *order) {
	if o.broken == 0 || len(o.circle) > fewCircled && o.broken < len(o.circle)/partOfCircle {
		return
	}
	o.broken = 0
	old := o.circle
	o.circle = nil
	all := slices.SortedFunc(maps.Keys(old), idSum.compare)
	t := tangle{leads: func(sum idSum, fn func(idSum)) {
		o.leadsTo(sum, func(to idSum) {
			if old[to] == old[sum] {
				fn(to)
			}
		})
	}, place: map[idSum]int{}, low: map[idSum]int{}}
	for _, sum := range all {
		if t.place[sum] == 0 {
			t.from(sum, o.draw)
		}
	}
	sh.reviewAll(o, all)
}

// tangle finds circles, as R. Tarjan does (Depth-first search and linear graph algorithms, 1972).
type tangle struct {
	leads func(idSum, func(idSum))
	place map[idSum]int // in the order in which they were met, from 1; -1: its circle is known
	low   map[idSum]int // the first place that an id is known to lead to
	met   int
	stack []idSum // those of which the circle is not known
}

// from draws the circles to which an id leads.
func (t *tangle) from(sum idSum, draw func([]idSum)) {
	type visit struct {
		sum  idSum
		next []idSum
	}
	var path []visit
	enter := func(sum idSum) {
		t.met++
		t.place[sum], t.low[sum] = t.met, t.met
		t.stack = append(t.stack, sum)
		v := visit{sum: sum}
		t.leads(sum, func(to idSum) { v.next = append(v.next, to) })
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

// finish takes off the stack those that are in one circle with an id, or the id alone.
func (t *tangle) finish(sum idSum, draw func([]idSum)) {
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
