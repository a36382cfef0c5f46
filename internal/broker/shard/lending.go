package shard

import (
	"fiveways.dev/fiveways/internal/core/dependency"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// LoanWaiters are the requests that wait until lent messages of one queue are returned or gone. A
// higher package keeps them. A queue without any pays a nil check.
//
// The methods run on the goroutine of the queue's shard. They may lend messages, but not publish.
type LoanWaiters interface {
	// LoansEnded reports that n contiguous messages, or some of them, are settled or returned.
	// Consumers are served afterwards.
	LoansEnded(at Context, h queue.Handle, n int)
	// QueueDeleted reports that the queue is gone with all its messages. LoansEnded is not called
	// for them.
	QueueDeleted()
}

// LoanWaiters returns the waiters of the queue, or nil if no request waits.
func (at Context) LoanWaiters() LoanWaiters { return at.q.loanWaiters }

// SetLoanWaiters sets the waiters of the queue, or nil if none wait. A queue with waiters is not
// removed as unused.
func (at Context) SetLoanWaiters(w LoanWaiters) { at.q.loanWaiters = w }

// LoansEnded reports to the queue's waiters n contiguous messages that the caller has changed in
// Content.
func (at Context) LoansEnded(h queue.Handle, n int) { at.sh.loansEnded(at.q, h, n) }

func (sh *Shard) loansEnded(q *Queue, h queue.Handle, n int) {
	if q.loanWaiters != nil {
		q.loanWaiters.LoansEnded(Context{sh, q}, h, n)
	}
}

func (q *Queue) dismissLoanWaiters() {
	if w := q.loanWaiters; w != nil {
		q.loanWaiters = nil
		w.QueueDeleted()
	}
}

// Lent counts a message that was just lent to the session of a command, and returns its delivery.
// env is the message, which need not be in memory. If the session is nil, the tap gets no report.
func (at Context) Lent(to *Client, it *queue.Item, env message.Envelope) Delivery {
	at.sh.handedOut(at.q, it, false, false)
	d := newDelivery(at.q, it)
	d.Env = env
	at.sh.tapDelivery(&d, holder{client: to})
	return d
}

// ServeConsumers delivers the messages that arrived for consumers in this round, before a command
// that would otherwise see them.
func (at Context) ServeConsumers() { at.sh.catchUpConsumers(at.q) }

// TryNext lends the next ready message whose group is free. The item is nil if there is none, or,
// with again, if the search had to stop early.
func (at Context) TryNext() (it *queue.Item, again bool) { return at.sh.getNext(at.q, false) }

// Lend lends a ready message out of order, or returns nil if its group is not free. env is the
// message.
func (at Context) Lend(h queue.Handle, env message.Envelope) *queue.Item {
	if at.q.selective == nil {
		return at.q.state.Lend(h)
	}
	return at.q.selective.Lend(h, env)
}

// Unreadable reports a message that cannot be read from disk. It stays lent, and in the log.
func (at Context) Unreadable(it *queue.Item, err error) { at.sh.setAside(at.q, it, err) }

// Dependencies returns what the queue's messages wait for (QueuePolicy.ConsumeAfter), or nil for a
// queue without an order.
func (at Context) Dependencies() *dependency.Member { return at.q.after }

// PlacesOf returns the positions of those lent messages that have one in an order of the shard.
func (at Context) PlacesOf(loans []Loan) []dependency.At { return at.sh.placesOf(loans) }
