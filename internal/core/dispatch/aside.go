package dispatch

import (
	"fiveways.dev/fiveways/internal/core/heap"
	"fiveways.dev/fiveways/internal/core/queue"
)

// places is a heap. Places added in order stay in order.
type places = heap.Heap[queue.Place, byPlace]

type byPlace struct{ heap.Untracked[queue.Place] }

func (byPlace) Before(a, b queue.Place) bool { return a < b }

// class holds the set-aside messages that wait for the same thing.
type class struct {
	group  *group // nil: the messages have no group
	set    *pool  // the consumers that may get them unless the group is held
	parked places // not empty
	in     *pool  // the pool that contains it; nil while no consumer may take from it
	at     int    // its index there, from 1
}

// pool holds the classes that the same consumers may take from: those with certain filters, or the
// one that holds the groups.
type pool struct {
	holder *Consumer // nil: any consumer whose filter matches
	set    string    // one bit for each filter
	all    bool      // no consumer has a filter
	plain  *class    // messages without a group; nil if none is set aside
	used   int       // classes of this set

	classes heap.Heap[*class, byFirst]
	at      int // index in Selective.pools + 1; 0 if there are no classes
	stuck   bool
}

// admits reports whether a consumer may take from the pool.
func (pl *pool) admits(c *Consumer) bool {
	switch {
	case pl.holder != nil:
		return pl.holder == c
	case pl.all:
		return true
	}
	return pl.set[c.filter>>3]>>(c.filter&7)&1 == 1
}

// idle reports whether a consumer with room might be found.
func (pl *pool) idle() bool { return !pl.stuck }

// free reports whether no consumer holds the groups.
func (pl *pool) free() bool { return pl.holder == nil }

// first returns the place of the pool's first message.
func (pl *pool) first() queue.Place { return pl.classes[0].parked[0] }

// byFirst orders the classes of a pool by their first message.
type byFirst struct{}

func (byFirst) Before(a, b *class) bool    { return a.parked[0] < b.parked[0] }
func (byFirst) Moved(cl *class, place int) { cl.at = place }

// first returns the pool with the first set-aside message among the pools that want selects, or nil
// if there is none. It removes the places of removed messages from the front.
func (p *Selective) first(st *queue.Deliveries, want func(*pool) bool) *pool {
	var best *pool
	for i := len(p.pools) - 1; i >= 0; i-- { // a pool that loses its last class swaps places with the last
		pl := p.pools[i]
		if !want(pl) || !p.clean(st, pl) {
			continue
		}
		if best == nil || pl.first() < best.first() {
			best = pl
		}
	}
	return best
}

// clean removes places of removed messages from the front of a pool. It returns false if nothing is
// left.
func (p *Selective) clean(st *queue.Deliveries, pl *pool) bool {
	for len(pl.classes) > 0 {
		cl := pl.classes[0]
		if st.Status(cl.parked[0].Handle()) == queue.Parked {
			return true
		}
		p.pop(cl)
		p.tidy(cl.group)
	}
	return false
}

// park sets aside a message that was just taken, in the class of its group and set.
func (p *Selective) park(st *queue.Deliveries, g *group, set *pool, h queue.Handle) {
	st.Park(h)
	at := queue.PlaceOf(h)
	p.frontier = max(p.frontier, at)
	p.places++
	cl := p.classOf(g, set)
	if cl == nil {
		cl = &class{group: g, set: set, parked: places{at}}
		if g != nil {
			g.classes = append(g.classes, cl)
		} else {
			set.plain = cl
		}
		set.used++
		p.settle(cl)
		return
	}
	cl.parked.Push(at)
	if cl.in != nil && cl.parked[0] == at {
		cl.in.classes.Fix(cl, cl.at)
	}
}

// pop removes the first message of a class, and the class if that was its last. The caller tidies
// its group.
func (p *Selective) pop(cl *class) queue.Handle {
	at := cl.parked.Pop()
	p.places--
	if len(cl.parked) == 0 {
		p.move(cl, nil)
		p.forget(cl)
	} else if cl.in != nil {
		cl.in.classes.Fix(cl, cl.at)
	}
	return at.Handle()
}

// move moves a class to another pool; nil for none.
func (p *Selective) move(cl *class, to *pool) {
	if cl.in == to {
		return
	}
	if from := cl.in; from != nil {
		from.classes.Remove(cl.at)
		if len(from.classes) == 0 {
			last := p.pools[len(p.pools)-1]
			p.pools[from.at-1], last.at = last, from.at
			p.pools[len(p.pools)-1] = nil
			p.pools, from.at = p.pools[:len(p.pools)-1], 0
		}
	}
	if cl.in = to; to != nil {
		to.classes.Push(cl)
		if to.at == 0 {
			p.pools = append(p.pools, to)
			to.at, to.stuck = len(p.pools), false
		}
	}
}

// sweep drops the places of removed messages if they are more than half.
func (p *Selective) sweep(st *queue.Deliveries) {
	if p.places <= 2*st.Parked()+Step {
		return
	}
	var all []*class
	for _, g := range p.groups {
		all = append(all, g.classes...)
	}
	for _, pl := range p.shared {
		if pl.plain != nil {
			all = append(all, pl.plain)
		}
	}
	p.places = 0
	for _, cl := range all {
		p.move(cl, nil)
		var kept places
		for _, at := range cl.parked {
			if st.Status(at.Handle()) == queue.Parked {
				kept.Push(at)
			}
		}
		cl.parked = kept
		p.places += len(kept)
		if len(kept) > 0 {
			p.settle(cl)
		} else {
			p.forget(cl)
			p.tidy(cl.group)
		}
	}
}

// forget removes an empty class from its group or, if it has none, from its set.
func (p *Selective) forget(cl *class) {
	cl.set.used--
	if g := cl.group; g != nil {
		g.remove(cl)
	} else {
		cl.set.plain = nil
	}
}
