package broker

import (
	"errors"

	"fiveways/internal/core/queue"
)

// Pop takes ready messages off a queue for good: those that would be delivered first, with Back
// those that would be last, one after the other.
type Pop struct {
	OnQueue
	Back   bool
	Max    int      // at most so many; fewer when they take more than a quarter of the memory that the broker may use
	Create bool     // a durable queue is made when there is none: for who waits
	Unless *Pop     // nothing happens when that one has got something or failed; it comes before this one in the same call
	Bodies [][]byte // not to be changed
	Left   int      // how many are ready then
}

func (p *Pop) Find(f Finder) (*Queue, error) {
	s := f.s
	p.Bodies = nil
	return s.readableList(p.Queue, p.Create)
}

// others implements spanning: what those before it got must be known.
func (p *Pop) Others(fn func(*Queue)) {
	for u := p.Unless; u != nil; u = u.Unless {
		if u.queue != nil {
			fn(u.queue)
		}
	}
}

// settled tells that nothing is left to be done by those that depend on it.
func (p *Pop) settled() bool {
	return p.Got() || p.Err != nil && !errors.Is(p.Err, ErrQueueNotFound) || p.Unless != nil && p.Unless.settled()
}

func (p *Pop) Got() bool { return len(p.Bodies) > 0 }

func (p *Pop) Run(at Context) error {
	sh, q := at.sh, at.q
	p.Bodies = nil
	if p.Unless != nil && p.Unless.settled() {
		return nil
	}
	for size := int64(0); len(p.Bodies) < p.Max && size < sh.b.lookBytes; {
		it := sh.takeNext(p.session, q, p.Back, true)
		if it == nil {
			break
		}
		sh.settle(q, it.Handle, 1)
		p.Bodies = append(p.Bodies, it.Env.Body())
		size += ShownBytes + int64(len(it.Env))
	}
	p.Left = q.state.Ready()
	return nil
}

// takeNext lends a session the next message of the queue, from its back the last; nil when none can
// be had. With settled the caller settles it at once.
func (sh *shard) takeNext(s *Session, q *Queue, back, settled bool) *queue.Item {
	q.used(sh.now)
	take := sh.getNext
	if back {
		take = sh.getLast
	}
	it, again := take(q, settled)
	for it == nil && again {
		it, again = take(q, settled)
	}
	if it == nil {
		return nil
	}
	sh.taken = *it // what settling it may change
	sh.got(q, it, settled)
	d := newDelivery(q, it)
	sh.tapDelivery(&d, holder{session: s})
	sh.mark(q)
	return &sh.taken
}

// getLast is getNext from the other end. Messages that are parked are not looked at. again: it
// found one that must be.
func (sh *shard) getLast(q *Queue, settled bool) (it *queue.Item, again bool) {
	if it = q.state.LendLast(sh.now); it == nil {
		return nil, false
	}
	if it.Env == nil {
		env, err := sh.loadAside(it)
		if err != nil {
			sh.setAside(q, it, err)
			return nil, true
		}
		sh.loaded = *it
		sh.loaded.Env = env
		it = &sh.loaded
	}
	if q.selective != nil && !q.selective.Taken(it, settled) {
		return nil, true
	}
	return it, false
}
