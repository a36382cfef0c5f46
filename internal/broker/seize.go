package broker

import (
	"context"
	"slices"

	"fiveways/internal/core/queue"
)

// SeizeByID is TakeByID also for a message whose time has not come or that is blocked by others. It must be settled or released: Release puts it
// back to what it was. held is what the caller has on loan meanwhile, asked for when there is something to wait for; nil is nothing. Those who
// would wait for each other's loans get ErrDeadlock, one of them.
func (s *Session) SeizeByID(ctx context.Context, queueName, messageID string, held func() []Loan) (d Delivery, ok bool, err error) {
	return s.takeByID(ctx, queueName, messageID, request{aside: true, held: held})
}

// SeizeHandle is SeizeByID for a message whose place in the queue is known.
func (s *Session) SeizeHandle(ctx context.Context, queueName string, h queue.Handle, held func() []Loan) (d Delivery, ok bool, err error) {
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
			if a, _ := q.shard.tryTake(q, h, true); a.ok {
				got = append(got, a.got)
			}
		}
	})
	return got, err
}

// freedBy are the blocked messages of the queue that wait for nothing but some loans, in the order of the queue, without those whose time has
// not come.
func (q *Queue) freedBy(loans []Loan) (free []queue.Handle) {
	on := map[spot]bool{}
	for _, l := range loans {
		on[spot{l.Queue, l.Handle}] = true
	}
	waits := map[queue.Handle]int32{} // ids for which a message waits no longer
	for at := range on {
		if at.q.gone || at.q.after == nil || at.q.after.order != q.after.order {
			continue
		}
		w := at.q.after.waited[at.h]
		if w == nil || !q.after.order.onlyIn(on, w.sum, at) {
			continue
		}
		for _, by := range w.by {
			if by.q == q && by.waits() {
				waits[by.h]++
			}
		}
	}
	for h, n := range waits {
		it, status := q.state.Get(h)
		if status == queue.Blocked && n == q.after.left[h] && it.Due <= q.shard.now {
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

// onlyIn tells whether the older messages with the id of the one at a spot, of those that live, are all among some.
func (o *order) onlyIn(some map[spot]bool, sum idSum, at spot) bool {
	e := o.ids.find(sum, at.q.after.slot, at.h)
	for e != 0 {
		if e = o.ids.next(e); e == 0 {
			break
		}
		if en := o.ids.entry(e); o.lives(en) && !some[spot{o.slots[en.slot].q, en.h}] {
			return false
		}
	}
	return true
}
