package broker

import (
	"context"

	"fiveways/internal/core/queue"
)

// SeizeByID is TakeByID also for a message whose time has not come or that is blocked by others. It
// must be settled or released: Release puts it back to what it was. held is what the caller has on
// loan meanwhile, asked for when there is something to wait for; nil is nothing. Those who would
// wait for each other's loans get ErrDeadlock, one of them.
func (s *Session) SeizeByID(ctx context.Context, queueName, messageID string, held func() Holdings) (d Delivery, ok bool, err error) {
	return s.takeByID(ctx, queueName, messageID, request{aside: true, held: held})
}

// SeizeHandle is SeizeByID for a message whose place in the queue is known.
func (s *Session) SeizeHandle(ctx context.Context, queueName string, h queue.Handle, held func() Holdings) (d Delivery, ok bool, err error) {
	return s.takeHandle(ctx, queueName, h, request{aside: true, held: held})
}

// SeizeFreed lends up to n messages of a queue, the first first, that are blocked by nothing but
// messages that the caller has on loan: for a transaction that will end these with the one that it
// does now. held is called on the shard's goroutine, and only when a message of the queue is
// blocked. What is lent must be settled with what blocked it, or released. Errors: those of Fetch.
func (s *Session) SeizeFreed(queueName string, n int, held func() []Loan) (got []Delivery, err error) {
	s.Flush()
	if err := s.may(toRead, "queue", queueName); err != nil {
		return nil, err
	}
	q, err := s.usableQueue(queueName)
	if err != nil {
		return nil, err
	}
	err = q.shard.call(func() {
		if q.gone || q.after == nil || q.state.Blocked() == 0 {
			return
		}
		for _, h := range q.after.FreedBy(q.shard.placesOf(held()), q.shard.now) {
			if len(got) == n {
				break
			}
			if a, _ := q.shard.tryTake(q, h, &taker{aside: true}); a.ok {
				got = append(got, a.got)
			}
		}
	})
	return got, err
}
