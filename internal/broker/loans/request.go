package loans

import (
	"context"
	"errors"
	"slices"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/queue"
)

// request asks for one message, and waits while the message is lent. It is a command of
// broker.Session.Run.
type request struct {
	broker.OnQueue
	session *broker.Session
	tx      *Transaction
	look    bool                                             // do not lend the message, only find it
	locate  func(at shard.Context) (h queue.Handle, ok bool) // finds the message, at the shard
	browse  string                                           // message-id to find, if the queue does not index ids
	browsed queue.Handle                                     // its handle; 0: not found

	finder broker.Finder
	handle queue.Handle  // of the message that was located
	done   chan struct{} // closed when outcome is set; until then the shard owns outcome
	outcome
}

// outcome is the result of a request. Without ok the message is gone, or cannot be had.
type outcome struct {
	lent     shard.Delivery // with ok, unless the request only looks
	ok, gone bool
}

func newRequest(s *broker.Session, queueName string, tx *Transaction) *request {
	return &request{OnQueue: broker.OnQueue{Queue: queueName}, session: s, tx: tx, done: make(chan struct{})}
}

// Find implements broker.Command.
func (r *request) Find(f broker.Finder) (*shard.Queue, error) {
	r.finder = f
	if r.look {
		q, ok := f.Lookup(r.Queue)
		if !ok || !q.Policy().Known() {
			return nil, errNoOrder
		}
		return q, nil
	}
	q, err := f.Queue(broker.Reading, r.Queue, false)
	if err != nil || r.browse == "" || q.Policy().Known() {
		return q, err
	}
	m, _, err := inspect.Find(r.session, r.Queue, r.browse)
	r.browsed = m.Handle
	return q, err
}

// Run implements broker.Command.
func (r *request) Run(at shard.Context) error {
	h, ok := r.locate(at)
	if !ok {
		r.end(outcome{})
		return nil
	}
	r.handle = h
	if r.try(at) {
		waitersOf(at).add(at, r)
	}
	return nil
}

// OfStreams marks it as a command for streams, too: their entries can be lent.
func (*request) OfStreams() {}

// do makes the request and waits for its outcome.
func (r *request) do(ctx context.Context) error {
	ended, err := r.session.Ended()
	if err != nil {
		return err
	}
	err = r.session.Run(r)
	if errors.Is(err, broker.ErrFindAgain) {
		r.gone = true
		return nil
	}
	if err != nil {
		return err
	}
	q := r.Found()
	on := resource{loan: shard.Loan{Queue: q, Handle: r.handle}}
	if err = r.tx.await(ctx, r.session, on, r.done, ended, r.finder.Stopped(q)); err == nil {
		return nil
	}
	if closed := r.finder.At(q, func(at shard.Context) { waitersOf(at).remove(at, r) }); closed != nil {
		return closed
	}
	select {
	case <-r.done: // it has just ended
		return nil
	default:
		return err
	}
}

// try completes the request, unless it has to wait.
func (r *request) try(at shard.Context) (waits bool) {
	var o outcome
	if r.look {
		o, waits = look(at, r.handle)
	} else {
		o, waits = lend(at, r.By(), r.handle)
	}
	if !waits {
		r.end(o)
	}
	return waits
}

func (r *request) end(o outcome) {
	r.outcome = o
	close(r.done)
}

// look finds a message that is not lent; lent reports whether it is lent.
func look(at shard.Context, h queue.Handle) (o outcome, lent bool) {
	at.Use()
	at.Deliveries().Due(at.Now())
	it, status := at.Deliveries().Get(h)
	switch status {
	case queue.Gone:
		return outcome{gone: true}, false
	case queue.Unacked:
		return outcome{}, true
	}
	expired := it.Expires != 0 && it.Expires <= at.Now() // its timer removes it
	return outcome{ok: !expired}, false
}

// lend lends a message that is not lent to the session of a command; lent reports whether it is
// lent already. If the command is nil, the tap gets no report.
func lend(at shard.Context, to *shard.Client, h queue.Handle) (o outcome, lent bool) {
	if o, lent = look(at, h); !o.ok {
		return o, lent
	}
	it := at.Deliveries().LendAside(h)
	env, err := at.Load(it)
	if err != nil {
		at.Unreadable(it, err)
		return outcome{}, false
	}
	o.lent = at.Lent(to, it, env)
	at.Changed()
	return o, false
}

// waiters are the requests that wait for messages of one queue, by message, in order of arrival.
// They implement shard.LoanWaiters.
//
// Invariant: a queue has waiters only while there is a request.
type waiters map[queue.Handle][]*request

// waitersOf returns the waiters of a queue, or nil if no request waits.
func waitersOf(at shard.Context) waiters {
	w, _ := at.LoanWaiters().(waiters)
	return w
}

func (w waiters) add(at shard.Context, r *request) {
	if w == nil {
		w = waiters{}
		at.SetLoanWaiters(w)
	}
	w[r.handle] = append(w[r.handle], r)
}

// remove ends the wait of a request, if it waits.
func (w waiters) remove(at shard.Context, r *request) {
	if rest := slices.DeleteFunc(w[r.handle], func(have *request) bool { return have == r }); len(rest) > 0 {
		w[r.handle] = rest
		return
	}
	delete(w, r.handle)
	if len(w) == 0 {
		at.SetLoanWaiters(nil)
	}
}

// LoansEnded implements shard.LoanWaiters: the first request gets a returned message.
func (w waiters) LoansEnded(at shard.Context, h queue.Handle, n int) {
	queue.EachIn(w, h, n, func(h queue.Handle) {
		for len(w[h]) > 0 && !w[h][0].try(at) {
			w.remove(at, w[h][0])
		}
	})
}

// QueueDeleted implements shard.LoanWaiters.
func (w waiters) QueueDeleted() {
	for _, all := range w {
		for _, r := range all {
			r.end(outcome{gone: true})
		}
	}
}
