package broker

import (
	"context"
	"slices"

	"fiveways/internal/core/queue"
)

// SeizeByID is TakeByID also for a message whose time has not come or that is blocked by others. It must be settled or released: Release puts it
// back to what it was. held is what the caller has on loan meanwhile, asked for when there is something to wait for; nil is nothing. Those who
// would wait for each other's loans get ErrDeadlock, one of them.
func (s *Session) SeizeByID(ctx context.Context, queueName, messageID string, held func() Holdings) (d Delivery, ok bool, err error) {
	return s.takeByID(ctx, queueName, messageID, request{aside: true, held: held})
}

// SeizeHandle is SeizeByID for a message whose place in the queue is known.
func (s *Session) SeizeHandle(ctx context.Context, queueName string, h queue.Handle, held func() Holdings) (d Delivery, ok bool, err error) {
	return s.takeHandle(ctx, queueName, h, request{aside: true, held: held})
}

// SeizeFreed lends up to n messages of a queue, the first first, that are blocked by nothing but messages that the caller has on loan: for a
// transaction that will end these with the one that it does now. held is called on the shard's goroutine, and only when a message of the queue
// is blocked. What is lent must be settled with what blocked it, or released. Errors: those of Fetch.
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
		for _, h := range q.freedBy(held()) {
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

// freedBy are the blocked messages of the queue that wait for nothing but some loans, in the order of the queue, without those whose time has
// not come.
func (q *Queue) freedBy(loans []Loan) (free []queue.Handle) {
	o := q.after.order
	on := map[spot]bool{}
	ids := map[*asked]bool{}
	for _, l := range loans {
		on[spot{l.Queue, l.Handle}] = true
	}
	for at := range on {
		if at.q.gone || at.q.after == nil || at.q.after.order != o {
			continue
		}
		if r := at.q.after.waited[at.h]; r != nil && o.onlyIn(on, r.sum) {
			ids[r] = true
		}
	}
	waits := map[queue.Handle]int32{} // ids for which a message waits no longer
	for r := range ids {
		for _, n := range r.by {
			if n.q == q && !n.gone && n.edges[n.edge].on {
				waits[n.h]++
			}
		}
	}
	for h, n := range waits {
		it, status := q.state.Get(h)
		if status == queue.Blocked && n == q.after.asks[h].left && it.Due <= q.shard.now {
			free = append(free, h)
		}
	}
	slices.SortFunc(free, func(a, b queue.Handle) int {
		if placeOf(a) < placeOf(b) {
			return -1
		}
		return 1
	})
	return free
}

// onlyIn tells whether the messages with an id are all among some.
func (o *order) onlyIn(some map[spot]bool, sum idSum) bool {
	for at := range o.with(sum) {
		if !some[at] {
			return false
		}
	}
	return true
}
