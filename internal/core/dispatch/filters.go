package dispatch

import (
	"cmp"
	"maps"
	"slices"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/selector"
)

// filter is the selector of one or more consumers of a queue.
type filter struct {
	text     string
	selector *selector.Selector // nil: they accept everything
	index    int                // index in Selective.filters
}

// matches reports whether a message passes.
func (f *filter) matches(env message.Envelope) bool {
	return f.selector == nil || f.selector.Match(env)
}

// setOf returns the pool of the consumers whose filter a message passes.
func (p *Selective) setOf(env message.Envelope) *pool {
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

// fewSets is how many sets of filters are kept even if nothing is set aside for them.
const fewSets = 1024

// forgetSets drops the pools of sets without set-aside messages, if there are many.
func (p *Selective) forgetSets() {
	if len(p.shared) < max(p.most, fewSets) {
		return
	}
	maps.DeleteFunc(p.shared, func(_ string, pl *pool) bool { return pl.used == 0 })
	p.most = 2 * len(p.shared)
}

// filtersOf returns the distinct filters of consumers, sorted by text, and gives each consumer its
// filter. It returns none if no consumer has a selector.
func filtersOf(list []*Consumer) []*filter {
	byText := map[string]*filter{}
	for _, c := range list {
		byText[filterText(c)] = &filter{text: filterText(c), selector: c.Selector}
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

// filterText returns the text of a consumer's selector, "" if it accepts everything.
func filterText(c *Consumer) string {
	if c.Selector == nil {
		return ""
	}
	return "=" + c.Selector.String()
}

// Selectors reports whether a consumer has a selector, so that the queue needs a Selective.
func (cs *Consumers) Selectors() bool {
	return slices.ContainsFunc(cs.list, func(c *Consumer) bool { return c.Selector != nil })
}

// Refilter is called when the consumers of the queue have changed. If the distinct selectors have
// changed, all set-aside messages are examined again and changed is true. needed is false if any
// consumer may now get any message.
func (p *Selective) Refilter(cs *Consumers) (changed, needed bool) {
	filters := filtersOf(cs.list)
	if slices.EqualFunc(filters, p.filters, func(a, b *filter) bool { return a.text == b.text }) {
		return false, true
	}
	p.filters = filters
	p.forgetAside()
	p.st.UnparkAll()
	return true, p.header != "" || len(filters) > 0
}

// forgetAside drops all classes. Groups with unsettled messages stay.
func (p *Selective) forgetAside() {
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

// pick returns the consumer that gets the next message of a pool and moves it behind its equals;
// nil if none has room.
func (cs *Consumers) pick(pl *pool) *Consumer {
	if pl == nil {
		return nil
	}
	if cs.single != nil {
		if c := cs.single.next(cs.list); c != nil {
			if pl.admits(c) {
				return c
			}
			c.Unready()
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

// anyRoom reports whether any consumer could take a message.
func (cs *Consumers) anyRoom() bool {
	if cs.single != nil {
		c := cs.single.next(cs.list)
		if c != nil {
			c.Unready()
		}
		return c != nil
	}
	for _, l := range cs.levels {
		for c := l.first; c != nil; {
			behind := c.behind
			if c.ready() {
				c.Unready()
				return true
			}
			l.leave(c)
			c = behind
		}
	}
	return false
}
