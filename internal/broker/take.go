package broker

import (
	"context"
	"slices"

	"fiveways/internal/core/deadlock"
	"fiveways/internal/core/queue"
)

// TakeByID lends the message of a queue that has a message-id, wherever it stands in the queue. It
// must be settled or returned like one from Get. While the message is lent to another session,
// TakeByID waits for its return or its end; a returned message goes to the waiting calls before
// consumers. ok is false when there is no such message or it may not be had now: other messages
// block it, its time has not come, or it has expired. Of several messages with the id it is the
// first. Message groups are not looked at.
//
// The end of ctx ends the wait with its error, and the end of the session with ErrClosed. Errors
// besides: ErrAccessRefused, ErrQueueNotFound, ErrExclusive.
func (s *Session) TakeByID(ctx context.Context, queueName, messageID string) (d Delivery, ok bool, err error) {
	return s.takeByID(ctx, queueName, messageID, request{})
}

// request is how a message is taken.
type request struct {
	aside bool            // also when it is delayed or blocked
	look  bool            // it is not taken: ok tells that it is there, and that nobody has it
	held  func() Holdings // what who asks holds meanwhile; nil: it does not say
}

func (s *Session) takeByID(ctx context.Context, queueName, messageID string, r request) (d Delivery, ok bool, err error) {
	for {
		q, err := s.readable(queueName)
		if err != nil {
			return d, false, err
		}
		locate := func() (queue.Handle, bool) { return q.after.First(messageID) }
		if !q.Policy().Known() {
			m, found, err := s.Find(queueName, messageID)
			if err != nil || !found {
				return d, false, err
			}
			locate = func() (queue.Handle, bool) { return m.Handle, true }
		}
		a, err := s.take(ctx, q, r, locate)
		if err != nil || !a.gone {
			return a.got, a.ok, err
		}
	}
}

// TakeHandle is TakeByID for a message whose place in the queue is known.
func (s *Session) TakeHandle(ctx context.Context, queueName string, h queue.Handle) (d Delivery, ok bool, err error) {
	return s.takeHandle(ctx, queueName, h, request{})
}

func (s *Session) takeHandle(ctx context.Context, queueName string, h queue.Handle, r request) (d Delivery, ok bool, err error) {
	q, err := s.readable(queueName)
	if err != nil {
		return d, false, err
	}
	a, err := s.take(ctx, q, r, func() (queue.Handle, bool) { return h, true })
	return a.got, a.ok, err
}

// readable finds a queue that the session may take from.
func (s *Session) readable(name string) (*Queue, error) {
	s.Flush()
	if err := s.may(toRead, "queue", name); err != nil {
		return nil, err
	}
	return s.usableQueue(name)
}

// taker is somebody who waits for one message. Its fields belong to the shard until answered is
// closed.
type taker struct {
	session  *Session // nil: it only moves the message
	answered chan struct{}
	aside    bool // it takes what is delayed or blocked, too
	look     bool // it only wants to know
	takeAnswer
}

// takeAnswer is what became of an attempt to take a message: it was got, it is gone, or neither.
type takeAnswer struct {
	got      Delivery
	ok, gone bool
}

// take lends the message that locate finds on the shard's goroutine.
func (s *Session) take(ctx context.Context, q *Queue, r request, locate func() (queue.Handle, bool)) (a takeAnswer, err error) {
	ended, err := s.ending()
	if err != nil {
		return a, err
	}
	t := &taker{session: s, answered: make(chan struct{}), aside: r.aside, look: r.look}
	var h queue.Handle
	err = q.shard.call(func() {
		var ok bool
		if q.gone {
			t.answer(takeAnswer{gone: true})
		} else if h, ok = locate(); ok {
			q.shard.ask(q, h, t)
		} else {
			t.answer(takeAnswer{})
		}
	})
	if err != nil {
		return a, err
	}
	if err = s.await(ctx, ended, t, Loan{q, h}, r.held); err == nil {
		return t.takeAnswer, nil
	}
	if closed := q.shard.call(func() { q.withdraw(h, t) }); closed != nil {
		return a, closed
	}
	select {
	case <-t.answered: // just now
		return t.takeAnswer, nil
	default:
		return a, err
	}
}

// await waits until a taker is answered. With an error it is not known to be.
func (s *Session) await(ctx context.Context, ended <-chan struct{}, t *taker, on Loan, held func() Holdings) error {
	select {
	case <-t.answered:
		return nil
	default:
	}
	if held != nil {
		h := held()
		w := &deadlock.Wait[resource]{For: resource{loan: on}, Holds: h.resources()}
		if len(w.Holds) > 0 {
			if !s.b.waits.Enter(w) {
				return s.fail(ErrDeadlock, "queue", on.Queue.Name)
			}
			defer s.b.waits.Leave(w)
		}
	}
	select {
	case <-t.answered:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-ended:
		return ErrClosed
	case <-on.Queue.shard.done:
		return ErrClosed
	}
}

// ending is closed when the session closes. Errors: ErrClosed.
func (s *Session) ending() (<-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, ErrClosed
	}
	if s.ended == nil {
		s.ended = make(chan struct{})
	}
	return s.ended, nil
}

// ask answers a taker now, or notes that it waits.
func (sh *shard) ask(q *Queue, h queue.Handle, t *taker) {
	a, wait := sh.tryTake(q, h, t)
	if !wait {
		t.answer(a)
		return
	}
	if q.takers == nil {
		q.takers = map[queue.Handle][]*taker{}
	}
	q.takers[h] = append(q.takers[h], t)
}

func (t *taker) answer(a takeAnswer) {
	t.takeAnswer = a
	close(t.answered)
}

// tryTake lends a message to a taker, or looks for it; wait tells that somebody else has it.
func (sh *shard) tryTake(q *Queue, h queue.Handle, t *taker) (a takeAnswer, wait bool) {
	if q.gone {
		return takeAnswer{gone: true}, false
	}
	q.used(sh.now)
	q.state.Due(sh.now)
	switch it, status := q.state.Get(h); {
	case status == queue.Gone:
		return takeAnswer{gone: true}, false
	case status == queue.Unacked:
		return a, true
	case it.Expires != 0 && it.Expires <= sh.now: // its timer will bury it
		return a, false
	case t.look:
		return takeAnswer{ok: true}, false
	case !t.aside && (status == queue.Scheduled || status == queue.Blocked):
		return a, false
	}
	it := q.state.LendAside(h)
	d := newDelivery(q, it)
	if d.Env == nil {
		var err error
		if d.Env, err = sh.loadAside(it); err != nil {
			sh.setAside(q, it, err)
			return a, false
		}
	}
	sh.got(q, it, false)
	sh.tapDelivery(&d, holder{session: t.session})
	sh.mark(q)
	return takeAnswer{got: d, ok: true}, false
}

// wakeTakers wakes the calls that wait for one of n contiguous messages, after a change to them. A
// message that is ready goes to the first of these calls, so this runs before other consumers are
// served.
func (sh *shard) wakeTakers(q *Queue, h queue.Handle, n int) {
	if len(q.takers) == 0 {
		return
	}
	for i := range queue.Handle(n) {
		for len(q.takers[h+i]) > 0 {
			a, wait := sh.tryTake(q, h+i, q.takers[h+i][0])
			if wait {
				break
			}
			t := q.takers[h+i][0]
			q.forgetTaker(h+i, t)
			t.answer(a)
		}
	}
}

// dismissTakers answers all who wait for messages of a queue that has gone.
func (q *Queue) dismissTakers() {
	for _, list := range q.takers {
		for _, t := range list {
			t.answer(takeAnswer{gone: true})
		}
	}
	q.takers = nil
}

// withdraw ends the wait of a taker that was not answered.
func (q *Queue) withdraw(h queue.Handle, t *taker) {
	if slices.Contains(q.takers[h], t) {
		q.forgetTaker(h, t)
	}
}

func (q *Queue) forgetTaker(h queue.Handle, t *taker) {
	list := slices.DeleteFunc(q.takers[h], func(have *taker) bool { return have == t })
	if len(list) > 0 {
		q.takers[h] = list
		return
	}
	delete(q.takers, h)
	if len(q.takers) == 0 {
		q.takers = nil
	}
}
