package dispatch

import (
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

const (
	MaxAside = 65536 // most messages of a queue that are set aside in search of a deliverable one
	Step     = 1024  // of these in one round, so that the shard can do other work
)

// Selective is the dispatch of a queue with message groups, or with consumers that have selectors:
// not every consumer may get every message. Each consumer gets the first message in queue order
// that it is allowed to have.
//
// A ready message that no consumer can get now is set aside: it joins a class, which is in the pool
// of the consumers that may take from it once they have room. So each message is examined only
// once, whatever happens to earlier ones, until the set of selectors changes.
//
// Invariants: a class holds the set-aside messages that wait for the same thing, and is in no pool
// only while its group is held by a consumer that may not have them. A class may still have places
// of removed messages (expired, purged, dropped); every set-aside message is in a class.
type Selective struct {
	src Source
	st  *queue.Deliveries

	header string                  // names the group of a message; "" if there are no groups
	groups map[string]*group       // groups with unsettled or set-aside messages
	out    map[queue.Handle]*group // groups of unsettled messages; a group's holder may get more of it

	filters []*filter        // the distinct selectors of the consumers; none if no consumer has one
	mask    []byte           // scratch
	shared  map[string]*pool // by set of filters
	most    int              // number of sets kept before those without set-aside messages are dropped
	pools   []*pool          // with classes

	places   int         // in all classes, including those of removed messages
	frontier queue.Place // the last place ever set aside
}

// Source is the queue that messages come from.
type Source interface {
	// Next takes the first ready message that is not set aside and expires after until, unix ms,
	// and loads its body; nil if there is none.
	Next(until int64) *queue.Item
	// TakeAside takes a set-aside message and loads its body; nil if it expires by until, or cannot
	// be read.
	TakeAside(h queue.Handle, until int64) *queue.Item
	// Deliver delivers a message to a consumer, and calls its Delivered.
	Deliver(c *Consumer, it *queue.Item)
	// LookAgain makes the owner call Dispatch again in another round.
	LookAgain()
}

// NewSelective returns the dispatch of a queue whose messages name their group in a header; ""
// means no groups.
func NewSelective(header string, st *queue.Deliveries, src Source) *Selective {
	return &Selective{
		src: src, st: st,
		header: header, groups: map[string]*group{}, out: map[queue.Handle]*group{}, shared: map[string]*pool{},
	}
}

// Dispatch delivers ready messages to consumers that may get them. now is unix ms; messages that
// expire at now are only for consumers that wait.
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

// head returns the place of the first message that is ready, not set aside, and expires after
// until; queue.NoPlace if there is none, or if too many are set aside already. Only returned
// messages, which must keep their order, and messages of higher priority come before the frontier.
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

// deliverHead takes the first ready message and delivers it, or sets it aside and returns false.
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

// deliverAside delivers the first message of a class to a consumer that has room.
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

// Get takes the first message whose group is not held, without a consumer. now is unix ms. With
// noAck the message is settled at once. again means that it stopped before it had examined all
// messages.
func (p *Selective) Get(now int64, noAck bool) (it *queue.Item, again bool) {
	p.sweep(p.st)
	p.st.Due(now) // head examines no message if all ready ones are set aside
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

// Taken decides about a message that was taken out of turn, with its body. If its group is held, it
// sets the message aside and returns false. Otherwise the message holds its group, unless it is
// settled at once.
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

// Lend lends a message that is ready or set aside. It returns nil if the message's group is held.
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

// Hold lets an unsettled message without a consumer hold its group.
func (p *Selective) Hold(h queue.Handle, env message.Envelope) {
	g := p.groupOf(env)
	p.hold(g, nil, h)
	p.tidy(g)
}
