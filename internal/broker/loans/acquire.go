package loans

import (
	"context"
	"errors"
	"slices"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/idindex"
	"fiveways.dev/fiveways/internal/core/queue"
)

// Acquire lends the session the message at a place of a queue, also when it could not be delivered
// now: its time has not come, or other messages block it. Message groups do not count. While
// another session has the message, Acquire waits until it is back or gone; the waiting calls get a
// returned message before consumers do. ok is false when there is no such message, or it has
// expired.
//
// What is lent must be settled or released: a release puts the message back to what it was. tx says
// what the caller holds while it waits, nil for nothing.
//
// The end of ctx ends the wait with its error. Errors besides: ErrAccessRefused, ErrQueueNotFound,
// ErrExclusive, ErrClosed (also when the session ends), and ErrDeadlock for one of the transactions
// that would wait for each other.
func Acquire(ctx context.Context, s *broker.Session, queueName string, h queue.Handle, tx *Transaction) (d shard.Delivery, ok bool, err error) {
	r := newRequest(s, queueName, tx)
	r.locate = func(shard.Context) (queue.Handle, bool) { return h, true }
	err = r.do(ctx)
	return r.lent, r.ok, err
}

// AcquireByID is Acquire for the message with a message-id, the first of several.
func AcquireByID(ctx context.Context, s *broker.Session, queueName, messageID string, tx *Transaction) (d shard.Delivery, ok bool, err error) {
	for {
		r := newRequest(s, queueName, tx)
		r.browse = messageID
		r.locate = func(at shard.Context) (queue.Handle, bool) {
			if at.Queue().Policy().Known() {
				return at.Dependencies().First(messageID)
			}
			return r.browsed, r.browsed != 0
		}
		if err = r.do(ctx); err != nil || !r.gone {
			return r.lent, r.ok, err
		}
	}
}

// errNoOrder: a queue is not there, or its messages have no order.
var errNoOrder = errors.New("the queue has no order")

// InUse reports whether a queue whose messages have an order (QueuePolicy.ConsumeAfter) has a
// message with an id that is not among own, the loans of the caller. A message that is lent to
// another session is waited for, as Acquire does. No permission is needed: knowing an id is enough
// to learn whether it is used. Errors: ErrDeadlock, ErrClosed, that of ctx.
func InUse(ctx context.Context, s *broker.Session, queueName, messageID string, own []shard.Loan, tx *Transaction) (bool, error) {
	sum := idindex.SumOf([]byte(messageID))
	for {
		r := newRequest(s, queueName, tx)
		r.look = true
		r.locate = func(at shard.Context) (queue.Handle, bool) {
			for m := range at.Dependencies().Graph().With(sum) {
				if m.In == at.Dependencies() && !slices.Contains(own, shard.Loan{Queue: at.Queue(), Handle: m.Handle}) {
					return m.Handle, true
				}
			}
			return 0, false
		}
		switch err := r.do(ctx); {
		case errors.Is(err, errNoOrder):
			return false, nil
		case err != nil || !r.gone:
			return r.ok, err
		}
	}
}

// AcquireUnblocked lends up to n messages of a queue, the first first, that are blocked by nothing
// but messages that the caller has on loan: for a transaction that settles all of them at once.
// loans is called at the shard, and only when a message of the queue is blocked. What is lent must
// be settled with what blocked it, or released. Errors: ErrAccessRefused, ErrQueueNotFound,
// ErrExclusive, ErrClosed.
func AcquireUnblocked(s *broker.Session, queueName string, n int, loans func() []shard.Loan) ([]shard.Delivery, error) {
	u := unblocked{OnQueue: broker.OnQueue{Queue: queueName}, max: n, loans: loans}
	err := s.Run(&u)
	if errors.Is(err, broker.ErrFindAgain) {
		err = nil // it is gone
	}
	return u.got, err
}

// unblocked is the command of AcquireUnblocked.
type unblocked struct {
	broker.OnQueue
	max   int
	loans func() []shard.Loan
	got   []shard.Delivery
}

// Find implements broker.Command.
func (u *unblocked) Find(f broker.Finder) (*shard.Queue, error) {
	return f.Queue(broker.Reading, u.Queue, false)
}

// Run implements broker.Command.
func (u *unblocked) Run(at shard.Context) error {
	if at.Dependencies() == nil || at.Deliveries().Blocked() == 0 {
		return nil
	}
	for _, h := range at.Dependencies().FreedBy(at.PlacesOf(u.loans()), at.Now()) {
		if len(u.got) == u.max {
			break
		}
		if o, _ := lend(at, nil, h); o.ok {
			u.got = append(u.got, o.lent)
		}
	}
	return nil
}

// OfStreams: no message of a stream is blocked.
func (*unblocked) OfStreams() {}
