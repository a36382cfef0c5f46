package broker

import (
	"fiveways/internal/core/queue"
)

const (
	maxParked = 65536 // messages of a queue that may be aside while the dispatcher looks for one that can go
	parkStep  = 1024  // of them in one drain: then the shard sees to others
)

// picky is the dispatch of a queue whose messages may not go to just any consumer: it has message groups, or consumers
// with selectors. Each consumer gets the first message in the order of the queue that may go to it.
//
// A ready message that can go nowhere now is parked: it belongs to a class, and the class lies in the pool of those
// that may take from it as soon as they have room. So each message is looked at once, whatever happens to those before
// it, until the set of selectors changes.
//
// Invariants: a class holds the parked messages that wait for the same thing, and is in no pool only while its group is
// held by somebody who may not have them. Places of messages that are gone (expired, purged, dropped) may be left in a
// class; there is no parked message that is in none.
type picky struct {
	header string                  // names the group of a message; "" when there are no groups
	groups map[string]*group       // those with messages out or parked
	out    map[queue.Handle]*group // who has these is their group's holder

	filters []*filter        // the distinct selectors of the consumers; none when no consumer has one
	mask    []byte           // scratch
	shared  map[string]*pool // by set of filters
	most    int              // of them, before those without parked messages are forgotten
	pools   []*pool          // those with classes

	places   int   // in all classes, with those of messages that are gone
	frontier place // the last place that was ever parked
	posted   bool  // another look is under way
}

func newPicky(p *QueuePolicy) *picky {
	return &picky{
		header: p.GroupHeader, groups: map[string]*group{}, out: map[queue.Handle]*group{}, shared: map[string]*pool{},
	}
}

// dispatchPicky is dispatch for a picky queue.
func (sh *shard) dispatchPicky(q *Queue) {
	p := q.picky
	p.sweep(q.state)
	for _, pl := range p.pools {
		pl.stuck = false
	}
	for left := parkStep; len(q.consumers.list) > 0; {
		head := p.head(q, sh.now, sh.now)
		if pl := p.first(q.state, (*pool).idle); pl != nil && pl.first() < head {
			if c := q.consumers.pick(pl); c != nil {
				sh.deliverParked(q, c, pl.classes[0])
			} else {
				pl.stuck = true
			}
			continue
		}
		if head == noPlace || !q.consumers.anyRoom() {
			break
		}
		if left == 0 {
			sh.lookAgain(q)
			break
		}
		if !sh.deliverHead(q) {
			left--
		}
	}
	if q.state.Ready() == q.state.Parked() {
		sh.closeReader(q)
	}
}

// head is the place of the first message that is ready, not parked, and lives beyond until; noPlace when there is none
// or when too many are parked already. Before the frontier lie those that came back, whose order must hold, and those of
// higher priority.
func (p *picky) head(q *Queue, now, until int64) place {
	parked := q.state.Parked()
	if q.state.Ready() == parked {
		return noPlace
	}
	it := q.state.PeekBeyond(now, until)
	if it == nil {
		return noPlace
	}
	at := placeOf(it.Handle)
	if parked >= maxParked && at > p.frontier || parked >= 2*maxParked {
		return noPlace
	}
	return at
}

// lookAgain has the dispatch go on in another drain.
func (sh *shard) lookAgain(q *Queue) {
	if p := q.picky; !p.posted {
		p.posted = true
		sh.post(func() {
			p.posted = false
			if !q.gone {
				sh.mark(q)
			}
		})
	}
}

// deliverHead takes the first ready message: to a consumer, or aside. false: it was parked.
func (sh *shard) deliverHead(q *Queue) bool {
	p := q.picky
	it := sh.nextReady(q, sh.now)
	if it == nil {
		return true
	}
	g, pl := p.sort(it.Env)
	var c *Consumer
	if pl != nil && !p.behind(g, pl, it.Handle) {
		c = q.consumers.pick(p.takers(g, pl))
	}
	if c == nil {
		p.park(q.state, g, pl, it.Handle)
		return false
	}
	h := it.Handle
	sh.deliver(q, c, it)
	if !c.NoAck {
		p.hold(g, c, h)
	}
	p.tidy(g)
	return true
}

// deliverParked delivers the first message of a class to a consumer that has room for it.
func (sh *shard) deliverParked(q *Queue, c *Consumer, cl *class) {
	p := q.picky
	h := p.pop(cl)
	g := cl.group
	it := sh.takeParked(q, h, sh.now)
	if it == nil {
		c.unready()
	} else {
		sh.deliver(q, c, it)
		if !c.NoAck {
			p.hold(g, c, h)
		}
	}
	p.tidy(g)
}

// takeParked lends a parked message with its body; nil when it does not live beyond until, which its timer will see
// to, or cannot be read.
func (sh *shard) takeParked(q *Queue, h queue.Handle, until int64) *queue.Item {
	it := q.state.Lend(h)
	if it.Expires != 0 && it.Expires <= until {
		q.state.Park(h)
		return nil
	}
	if it.Env != nil {
		return it
	}
	env, err := sh.loadAside(it)
	if err != nil {
		sh.setAside(q, it, err)
		return nil
	}
	sh.loaded = *it
	sh.loaded.Env = env
	return &sh.loaded
}

// getPicky is get for a picky queue: the first message whose group nobody holds. again: it had to stop looking.
func (sh *shard) getPicky(q *Queue, noAck bool) (it *queue.Item, again bool) {
	p := q.picky
	p.sweep(q.state)
	q.state.Due(sh.now) // head looks at nothing when all that is ready is parked
	until := sh.now + 1 // as in get
	for range parkStep {
		head := p.head(q, sh.now, until)
		pl := p.first(q.state, (*pool).free)
		if pl == nil && head == noPlace {
			return nil, false
		}
		var g *group
		if pl != nil && pl.first() < head {
			cl := pl.classes[0]
			g = cl.group
			it = sh.takeParked(q, p.pop(cl), until)
		} else if it = sh.nextReady(q, until); it != nil {
			var set *pool
			g, set = p.sort(it.Env)
			if g != nil && g.out > 0 || p.behind(g, set, it.Handle) {
				p.park(q.state, g, set, it.Handle)
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

// oldest takes the first message for a length limit.
func (sh *shard) oldest(q *Queue) *queue.Item {
	if q.picky != nil || q.early != nil {
		return q.state.Oldest()
	}
	return q.state.Next(sh.now)
}
