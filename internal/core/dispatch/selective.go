package dispatch

import (
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

const (
	MaxAside = 65536 // messages of a queue that may be set aside while one is looked for that can go
	Step     = 1024  // of them in one round: then the shard sees to others
)

// Selective is the dispatch of a queue whose messages may not go to just any consumer: it has
// message groups, or consumers with selectors. Each consumer gets the first message in the order of
// the queue that may go to it.
//
// A ready message that can go nowhere now is set aside: it belongs to a class, and the class lies
// in the pool of those that may take from it as soon as they have room. So each message is looked
// at once, whatever happens to those before it, until the set of selectors changes.
//
// Invariants: a class holds the messages set aside that wait for the same thing, and is in no pool
// only while its group is held by a consumer that may not have them. Places of messages that are
// gone (expired, purged, dropped) may be left in a class; there is no message set aside that is in
// none.
type Selective struct {
	src Source
	st  *queue.Deliveries

	header string                  // names the group of a message; "" when there are no groups
	groups map[string]*group       // those with messages out or set aside
	out    map[queue.Handle]*group // what has these is their group's holder

	filters []*filter        // the distinct selectors of the consumers; none when no consumer has one
	mask    []byte           // scratch
	shared  map[string]*pool // by set of filters
	most    int              // of them, before those without messages set aside are forgotten
	pools   []*pool          // those with classes

	places   int         // in all classes, with those of messages that are gone
	frontier queue.Place // the last place that was ever set aside
}

// Source is the queue that messages are chosen from.
type Source interface {
	// Next takes the first ready message that is not set aside and lives beyond until, unix ms, its
	// body loaded; nil when there is none.
	Next(until int64) *queue.Item
	// TakeAside takes a message that was set aside, its body loaded; nil when it does not live
	// beyond until, or cannot be had.
	TakeAside(h queue.Handle, until int64) *queue.Item
	// Deliver hands a message to a consumer, which hears of it by Delivered.
	Deliver(c *Consumer, it *queue.Item)
	// LookAgain has Dispatch called again in another round.
	LookAgain()
}

// NewSelective makes the dispatch of a queue whose messages name their group in a header; "" when
// there are no groups.
func NewSelective(header string, st *queue.Deliveries, src Source) *Selective {
	return &Selective{
		src: src, st: st,
		header: header, groups: map[string]*group{}, out: map[queue.Handle]*group{}, shared: map[string]*pool{},
	}
}

// Dispatch hands ready messages to consumers that may take them. now is unix ms; what expires now
// is for consumers that wait.
func (p *Selective) Dispatch(cs *Consumers, now int64) {
	p.sweep(p.st)
	for _, pl := range p.pools {
		pl.stuck = false
	}
	for left := Step; cs.Len() > 0; {
		head := p.head(now, now-1)
		if pl := p.first(p.st, (*pool).idle); pl != nil && pl.first() < head {
			if c := cs.pick(pl); c != nil {
				p.deliverAside(c, pl.classes[0], now)
			} else {
				pl.stuck = true
			}
			continue
		}
		if head == queue.NoPlace || !cs.anyRoom() {
			break
		}
		if left == 0 {
			p.src.LookAgain()
			break
		}
		if !p.deliverHead(cs, now) {
			left--
		}
	}
}

// head is the place of the first message that is ready, not set aside, and lives beyond until;
// queue.NoPlace when there is none or when too many are set aside already. Before the frontier lie
// those that came back, whose order must hold, and those of higher priority.
func (p *Selective) head(now, until int64) queue.Place {
	parked := p.st.Parked()
	if p.st.Ready() == parked {
		return queue.NoPlace
	}
	it := p.st.PeekBeyond(now, until)
	if it == nil {
		return queue.NoPlace
	}
	at := queue.PlaceOf(it.Handle)
	if parked >= MaxAside && at > p.frontier || parked >= 2*MaxAside {
		return queue.NoPlace
	}
	return at
}

// deliverHead takes the first ready message: to a consumer, or aside. false: it was set aside.
func (p *Selective) deliverHead(cs *Consumers, now int64) bool {
	it := p.src.Next(now - 1)
	if it == nil {
		return true
	}
	g, pl := p.sort(it.Env)
	var c *Consumer
	if !p.behind(g, pl, it.Handle) {
		c = cs.pick(p.takers(g, pl))
	}
	if c == nil {
		p.park(p.st, g, pl, it.Handle)
		return false
	}
	h := it.Handle
	p.src.Deliver(c, it)
	if !c.NoAck {
		p.hold(g, c, h)
	}
	p.tidy(g)
	return true
}

// deliverAside delivers the first message of a class to a consumer that has room for it.
func (p *Selective) deliverAside(c *Consumer, cl *class, now int64) {
	h := p.pop(cl)
	g := cl.group
	it := p.src.TakeAside(h, now-1)
	if it == nil {
		c.Unready()
	} else {
		p.src.Deliver(c, it)
		if !c.NoAck {
			p.hold(g, c, h)
		}
	}
	p.tidy(g)
}

// Get takes the first message whose group is not held, for no consumer. now is unix ms; with noAck
// it is over at once. again: it had to stop looking.
func (p *Selective) Get(now int64, noAck bool) (it *queue.Item, again bool) {
	p.sweep(p.st)
	p.st.Due(now) // head looks at nothing when all that is ready is set aside
	for range Step {
		head := p.head(now, now)
		pl := p.first(p.st, (*pool).free)
		if pl == nil && head == queue.NoPlace {
			return nil, false
		}
		var g *group
		if pl != nil && pl.first() < head {
			cl := pl.classes[0]
			g = cl.group
			it = p.src.TakeAside(p.pop(cl), now)
		} else if it = p.src.Next(now); it != nil {
			var set *pool
			g, set = p.sort(it.Env)
			if g.held() || p.behind(g, set, it.Handle) {
				p.park(p.st, g, set, it.Handle)
				it = nil
			}
		}
		if it != nil && !noAck {
			p.hold(g, nil, it.Handle)
		}
		p.tidy(g)
		if it != nil {
			return it, false
		}
	}
	return nil, true
}

// Taken decides about a message that was taken out of turn, with its body: it is set aside, and
// false returned, when its group is held; else the group is held for it, unless it is over
// at once.
func (p *Selective) Taken(it *queue.Item, noAck bool) bool {
	g, set := p.sort(it.Env)
	defer p.tidy(g)
	if g.held() {
		p.park(p.st, g, set, it.Handle)
		return false
	}
	if !noAck {
		p.hold(g, nil, it.Handle)
	}
	return true
}

// Lend lends a message that is ready or set aside, nil when its group is held.
func (p *Selective) Lend(h queue.Handle, env message.Envelope) *queue.Item {
	g := p.groupOf(env)
	defer p.tidy(g)
	if g.held() {
		return nil
	}
	it := p.st.Lend(h)
	p.hold(g, nil, h)
	return it
}

// Hold holds the group of a message that is out with no consumer.
func (p *Selective) Hold(h queue.Handle, env message.Envelope) {
	g := p.groupOf(env)
	p.hold(g, nil, h)
	p.tidy(g)
}
