package broker

import (
	"container/heap"
	"math"

	"fiveways/internal/core/queue"
)

// place is a message's place in the order of delivery: what is smaller comes first. Handles sort otherwise, for high
// priorities go first.
type place uint64

const (
	noPlace  place = math.MaxUint64
	turnOver       = 0xff << 56
)

func placeOf(h queue.Handle) place    { return place(h) ^ turnOver }
func (at place) handle() queue.Handle { return queue.Handle(at ^ turnOver) }

// places is a binary min-heap. What is added in order stays where it is.
type places []place

func (ps *places) push(at place) {
	*ps = append(*ps, at)
	h := *ps
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if h[up] <= h[i] {
			return
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
}

func (ps *places) pop() place {
	h := *ps
	first, n := h[0], len(h)-1
	h[0] = h[n]
	h = h[:n]
	for i := 0; ; {
		down := 2*i + 1
		if down >= n {
			break
		}
		if down+1 < n && h[down+1] < h[down] {
			down++
		}
		if h[i] <= h[down] {
			break
		}
		h[i], h[down] = h[down], h[i]
		i = down
	}
	*ps = h
	return first
}

// class is the parked messages that wait for the same thing.
type class struct {
	group  *group // nil: of no group
	set    *pool  // who may have them when nobody holds the group
	parked places // not empty
	in     *pool  // where it lies, nil while nobody may take from it
	at     int    // and its place there
}

// pool is classes that the same consumers may take from: those with certain filters, or the one that holds the groups.
type pool struct {
	holder *Consumer // nil: any that admits says
	set    string    // a bit for each filter
	all    bool      // no consumer has a filter
	plain  *class    // of messages without a group, nil when none is parked
	used   int       // classes of this set

	classes classHeap
	at      int // place in picky.pools + 1, 0 while there are no classes
	stuck   bool
}

// admits tells whether a consumer may take from the pool.
func (pl *pool) admits(c *Consumer) bool {
	switch {
	case pl.holder != nil:
		return pl.holder == c
	case pl.all:
		return true
	}
	return pl.set[c.filter>>3]>>(c.filter&7)&1 == 1
}

// idle tells that a consumer with room may be found.
func (pl *pool) idle() bool { return !pl.stuck }

// free tells that nobody holds the groups.
func (pl *pool) free() bool { return pl.holder == nil }

// first is the place of the pool's first message.
func (pl *pool) first() place { return pl.classes[0].parked[0] }

// classHeap is the classes of a pool by their first message.
type classHeap []*class

func (h classHeap) Len() int           { return len(h) }
func (h classHeap) Less(i, j int) bool { return h[i].parked[0] < h[j].parked[0] }
func (h classHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = i, j
}
func (h *classHeap) Push(x any) {
	cl := x.(*class)
	cl.at = len(*h)
	*h = append(*h, cl)
}
func (h *classHeap) Pop() any {
	n := len(*h) - 1
	cl := (*h)[n]
	(*h)[n] = nil
	*h = (*h)[:n]
	return cl
}

// first finds the pool with the first parked message among those that want picks, nil when there is none. Messages that
// are gone are taken out of the way.
func (p *picky) first(st *queue.State, want func(*pool) bool) *pool {
	var best *pool
	for i := len(p.pools) - 1; i >= 0; i-- { // a pool that loses its last class changes places with the last
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

// clean takes places of messages that are gone from the front of a pool; false: nothing is left.
func (p *picky) clean(st *queue.State, pl *pool) bool {
	for len(pl.classes) > 0 {
		cl := pl.classes[0]
		if st.Status(cl.parked[0].handle()) == queue.Parked {
			return true
		}
		p.pop(cl)
		p.tidy(cl.group)
	}
	return false
}

// park sets a message aside that was just taken, in the class of its group and set.
func (p *picky) park(st *queue.State, g *group, set *pool, h queue.Handle) {
	st.Park(h)
	at := placeOf(h)
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
	cl.parked.push(at)
	if cl.in != nil && cl.parked[0] == at {
		heap.Fix(&cl.in.classes, cl.at)
	}
}

// pop takes the first message off a class. The class is gone when that was the last; the caller tidies its group.
func (p *picky) pop(cl *class) queue.Handle {
	at := cl.parked.pop()
	p.places--
	if len(cl.parked) == 0 {
		p.move(cl, nil)
		p.forget(cl)
	} else if cl.in != nil {
		heap.Fix(&cl.in.classes, cl.at)
	}
	return at.handle()
}

// move puts a class into another pool, nil for none.
func (p *picky) move(cl *class, to *pool) {
	if cl.in == to {
		return
	}
	if from := cl.in; from != nil {
		heap.Remove(&from.classes, cl.at)
		if len(from.classes) == 0 {
			last := p.pools[len(p.pools)-1]
			p.pools[from.at-1], last.at = last, from.at
			p.pools[len(p.pools)-1] = nil
			p.pools, from.at = p.pools[:len(p.pools)-1], 0
		}
	}
	if cl.in = to; to != nil {
		heap.Push(&to.classes, cl)
		if to.at == 0 {
			p.pools = append(p.pools, to)
			to.at, to.stuck = len(p.pools), false
		}
	}
}

// sweep forgets the places of messages that are gone when they are more than half.
func (p *picky) sweep(st *queue.State) {
	if p.places <= 2*st.Parked()+parkStep {
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
			if st.Status(at.handle()) == queue.Parked {
				kept.push(at)
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

// forget takes an empty class from where it is found.
func (p *picky) forget(cl *class) {
	cl.set.used--
	if g := cl.group; g != nil {
		g.remove(cl)
	} else {
		cl.set.plain = nil
	}
}
