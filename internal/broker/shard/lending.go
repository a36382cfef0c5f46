package shard

import (
	"fiveways.dev/fiveways/internal/core/dependency"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// LoanWaiters are what waits until messages of one queue that are lent are back or gone, as a
// package above this one knows it. A queue for which nothing waits has none, and pays the look at a
// nil interface for it.
//
// The methods run on the goroutine of the queue's shard. They may lend messages, but not publish.
type LoanWaiters interface {
	// LoansEnded tells that n contiguous messages, or some of them, have been settled or are back
	// in the queue. Consumers are served afterwards.
	LoansEnded(at Context, h queue.Handle, n int)
	// QueueDeleted tells that the queue is gone with all its messages. Nothing else is told then.
	QueueDeleted()
}

// LoanWaiters are those of the queue, nil when nothing waits.
func (at Context) LoanWaiters() LoanWaiters { return at.q.loanWaiters }

// SetLoanWaiters gives the queue its waiters, nil when nothing waits any more: a queue that has
// some does not go for lack of use.
func (at Context) SetLoanWaiters(w LoanWaiters) { at.q.loanWaiters = w }

// LoansEnded tells the waiters of the queue of a change to n contiguous messages that the caller
// has made in Content.
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
// env is the message, which it may not have in memory. With nil for the session a tap is not told.
func (at Context) Lent(to *Client, it *queue.Item, env message.Envelope) Delivery {
	at.sh.handedOut(at.q, it, false, false)
	d := newDelivery(at.q, it)
	d.Env = env
	at.sh.tapDelivery(&d, holder{client: to})
	return d
}

// ServeConsumers hands consumers what came for them in this round, before a command that would see
// it.
func (at Context) ServeConsumers() { at.sh.catchUpConsumers(at.q) }

// TryNext lends the next ready message whose group is free. it is nil when there is none, or with
// again when the look for one had to stop.
func (at Context) TryNext() (it *queue.Item, again bool) { return at.sh.getNext(at.q, false) }

// Lend lends a ready message out of order; nil when its group is not free. env is the message.
func (at Context) Lend(h queue.Handle, env message.Envelope) *queue.Item {
	if at.q.selective == nil {
		return at.q.state.Lend(h)
	}
	return at.q.selective.Lend(h, env)
}

// Unreadable reports a message that the disk does not give back. It stays lent, and on the disk.
func (at Context) Unreadable(it *queue.Item, err error) { at.sh.setAside(at.q, it, err) }

// Dependencies are those of the queue's messages on others (QueuePolicy.ConsumeAfter), nil in a
// queue without an order.
func (at Context) Dependencies() *dependency.Member { return at.q.after }

// PlacesOf is where the messages of loans lie in orders of the shard, of those that do.
func (at Context) PlacesOf(loans []Loan) []dependency.At { return at.sh.placesOf(loans) }
