package broker

import (
	"fiveways/internal/core/deadletter"
	"fiveways/internal/core/queue"
)

// ack settles n contiguous deliveries.
func (sh *shard) ack(o *op) {
	q := o.queue
	if q.gone {
		sh.giveBack(o.consumer, int(o.n))
		sh.confirmAck(o, 0, false)
		return
	}
	n, logged := sh.settle(q, o.handle, int(o.n))
	if o.kind == opReject {
		q.counts.Rejected += uint64(n)
	} else {
		q.counts.Acked += uint64(n)
	}
	sh.giveBack(o.consumer, q.returned(o, n))
	sh.confirmAck(o, n, logged)
	sh.mark(q)
}

// settle removes n contiguous messages for good. It returns how many there were, and whether that
// was recorded.
func (sh *shard) settle(q *Queue, h queue.Handle, n int) (found int, logged bool) {
	if q.selective != nil {
		q.selective.Release(h, n)
	}
	found, logged = sh.facts.Settle(q.content, h, n)
	if q.after != nil {
		sh.freed(q, h, n, found)
	}
	sh.settled(q, h, n)
	sh.loansEnded(q, h, n)
	return found, logged
}

// reject ends deliveries: they are dead-lettered, or dropped.
func (sh *shard) reject(o *op) {
	q := o.queue
	if q.gone || !q.Policy().DeadLetter {
		sh.ack(o)
		return
	}
	if q.selective != nil {
		q.selective.Release(o.handle, int(o.n)) // a dead letter may take its time
	}
	n := 0
	for i := range int(o.n) {
		h := o.handle + queue.Handle(i)
		if _, status := q.state.Get(h); status == queue.Unacked {
			n++
			sh.deadLetter(q, h, deadletter.Rejected)
			sh.doLocal()
		}
	}
	sh.giveBack(o.consumer, q.returned(o, n))
	sh.mark(q)
}

// returned is how many deliveries an op ends that found n of its messages. Entries of a stream may
// have been deleted while they were out.
func (q *Queue) returned(o *op, n int) int {
	if q.content.Stream != nil {
		return int(o.n)
	}
	return n
}

// giveBack returns the credit for n settled deliveries to a consumer, which may be nil.
func (sh *shard) giveBack(c *Consumer, n int) {
	if c != nil {
		c.state.Returned(n)
	}
}

// release puts n contiguous messages back to their place.
func (sh *shard) release(o *op) {
	q := o.queue
	if q.gone {
		return
	}
	if q.selective != nil {
		q.selective.Release(o.handle, int(o.n))
	}
	for i := range queue.Handle(o.n) {
		q.state.Release(o.handle+i, sh.now)
	}
	if q.after != nil {
		q.after.Block(o.handle, int(o.n))
	}
	sh.loansEnded(q, o.handle, int(o.n))
	sh.setEarly(q, o.handle, int(o.n))
	sh.mark(q)
	sh.dropHead(q)
}
