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

// Acquire lends the session the message at a position of a queue, even if the message could not be
// delivered now because it is not due or other messages block it. Message groups do not
// count. While another session has the message, Acquire waits until it is returned or gone; waiting
// calls get a returned message before consumers do. ok is false if the message does not exist or
// has expired.
//
// The caller must settle or release the loan: a release restores the message to what it was. tx
// describes what the caller holds while it waits; nil means nothing.
//
// If ctx is done first, Acquire returns its error. Other errors: ErrAccessRefused,
// ErrQueueNotFound, ErrExclusive, ErrClosed (also when the session ends), and ErrDeadlock for one
// of several transactions that wait for each other.
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

// errNoOrder means that a queue does not exist, or that its messages have no order.
var errNoOrder = errors.New("the queue has no order")

// InUse reports whether a queue whose messages have an order (QueuePolicy.ConsumeAfter) has a
// message with an id that is not among own, the caller's loans. If such a message is lent to
// another session it waits, as Acquire does. No permission is needed: knowing an id is enough to
// learn whether it is used. Errors: ErrDeadlock, ErrClosed, that of ctx.
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

// AcquireUnblocked lends up to n messages of a queue, in order, that are blocked only by messages
// that the caller has on loan, for a transaction that settles all of them at once. loans is called
// at the shard, and only if a message of the queue is blocked. The caller must settle the new loans
// together with those that blocked them, or release them. Errors: ErrAccessRefused,
// ErrQueueNotFound, ErrExclusive, ErrClosed.
func AcquireUnblocked(s *broker.Session, queueName string, n int, loans func() []shard.Loan) ([]shard.Delivery, error) {
	u := unblocked{OnQueue: broker.OnQueue{Queue: queueName}, max: n, loans: loans}
	err := s.Run(&u)
	if errors.Is(err, broker.ErrFindAgain) {
		err = nil // the queue is gone
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

// OfStreams marks it as a command for streams, where no message is blocked.
func (*unblocked) OfStreams() {}
