package broker

import (
	"cmp"
	"maps"
	"slices"

	"fiveways/internal/core/message"
	"fiveways/internal/core/selector"
)

// filter is what one or several consumers of a queue ask for.
type filter struct {
	text     string
	selector *selector.Selector // nil: they take everything
	index    int                // in picky.filters
}

// matches tells whether a message passes.
func (f *filter) matches(env message.Envelope) bool {
	return f.selector == nil || f.selector.Match(env)
}

// setOf finds the pool of those whose filter lets a message pass.
func (p *picky) setOf(env message.Envelope) *pool {
	p.mask = append(p.mask[:0], make([]byte, (len(p.filters)+7)/8)...)
	for i, f := range p.filters {
		if f.matches(env) {
			p.mask[i>>3] |= 1 << (i & 7)
		}
	}
	pl := p.shared[string(p.mask)]
	if pl == nil {
		p.forgetSets()
		pl = &pool{set: string(p.mask), all: len(p.filters) == 0}
		p.shared[pl.set] = pl
	}
	return pl
}

// fewSets is how many sets of filters are remembered when nothing is parked for them.
const fewSets = 1024

// forgetSets drops the pools of sets for which nothing is parked, when there are many.
func (p *picky) forgetSets() {
	if len(p.shared) < max(p.most, fewSets) {
		return
	}
	maps.DeleteFunc(p.shared, func(_ string, pl *pool) bool { return pl.used == 0 })
	p.most = 2 * len(p.shared)
}

// filtersOf lists the distinct filters of consumers in the order of their texts, none when nobody has a selector, and
// tells each consumer its own.
func filtersOf(list []*Consumer) []*filter {
	byText := map[string]*filter{}
	for _, c := range list {
		byText[filterText(c)] = &filter{text: filterText(c), selector: c.selector}
	}
	if len(byText) == 1 && byText[""] != nil {
		return nil
	}
	filters := slices.SortedFunc(maps.Values(byText), func(a, b *filter) int { return cmp.Compare(a.text, b.text) })
	for i, f := range filters {
		f.index = i
	}
	for _, c := range list {
		c.filter = byText[filterText(c)].index
	}
	return filters
}

// filterText is "" for a consumer that takes everything.
func filterText(c *Consumer) string {
	if c.selector == nil {
		return ""
	}
	return "=" + c.selector.String()
}

// refilter is called when the consumers of a queue have changed. When that changes what is asked for, all that is
// parked is looked at again.
func (sh *shard) refilter(q *Queue) {
	if q.picky == nil && !slices.ContainsFunc(q.consumers.list, func(c *Consumer) bool { return c.selector != nil }) {
		return
	}
	if q.picky == nil {
		q.endEarly()
		q.picky = newPicky(q.Policy())
	}
	p := q.picky
	filters := filtersOf(q.consumers.list)
	if slices.EqualFunc(filters, p.filters, func(a, b *filter) bool { return a.text == b.text }) {
		return
	}
	p.filters = filters
	p.forgetParked()
	q.state.UnparkAll()
	if p.header == "" && len(filters) == 0 {
		q.picky = nil
	}
	sh.mark(q)
}

// forgetParked drops all classes; the groups that are out stay.
func (p *picky) forgetParked() {
	for len(p.pools) > 0 {
		p.move(p.pools[0].classes[0], nil)
	}
	for _, g := range p.groups {
		g.classes = nil
		p.tidy(g)
	}
	clear(p.shared)
	p.places, p.frontier = 0, 0
}

// pick finds who gets the next message of a pool, nil when none of them has room, and moves it behind its equals.
func (cs *consumers) pick(pl *pool) *Consumer {
	if pl == nil {
		return nil
	}
	if cs.single != nil {
		if c := cs.single.next(cs.list); c != nil {
			if pl.admits(c) {
				return c
			}
			c.unready()
		}
		return nil
	}
	if c := pl.holder; c != nil {
		if c.ready() {
			return c
		}
		return nil
	}
	return cs.nextOf(pl)
}

// anyRoom tells whether there is a consumer that could take a message.
func (cs *consumers) anyRoom() bool {
	if cs.single != nil {
		c := cs.single.next(cs.list)
		if c != nil {
			c.unready()
		}
		return c != nil
	}
	for _, l := range cs.levels {
		for c := l.first; c != nil; {
			behind := c.behind
			if c.ready() {
				c.unready()
				return true
			}
			l.leave(c)
			c = behind
		}
	}
	return false
}
