package broker

import "fiveways/internal/core/queue"

// ack settles n contiguous deliveries.
func (sh *shard) ack(o *op) {
	q := o.queue
	if q.gone {
		sh.giveBack(o.consumer, int(o.n))
		sh.confirmAck(o, 0)
		return
	}
	n := sh.settle(q, o.handle, int(o.n))
	if o.kind == opReject {
		q.counts.Rejected += uint64(n)
	} else {
		q.counts.Acked += uint64(n)
	}
	sh.giveBack(o.consumer, q.returned(o, n))
	sh.confirmAck(o, n)
	sh.mark(q)
}

// settle removes n contiguous messages for good and records it.
func (sh *shard) settle(q *Queue, h queue.Handle, n int) int {
	if q.picky != nil {
		q.picky.release(h, n)
	}
	sh.settling = settling{}
	q.state.SettleRange(h, n, sh.settledItem)
	if q.stream != nil {
		q.stream.Delete(h, n)
	}
	if q.after != nil {
		sh.freed(q, h, n, sh.settling.n)
	}
	if q.jobs != nil {
		sh.jobsWent(q, h, n)
	}
	sh.wakeTakers(q, h, n)
	if sh.settling.persisted {
		sh.entry.settle(q.ID, h, n)
	}
	return sh.settling.n
}

// reject ends deliveries: they are dead-lettered, or gone.
func (sh *shard) reject(o *op) {
	q := o.queue
	if q.gone || !q.Policy().DeadLetter {
		sh.ack(o)
		return
	}
	if q.picky != nil {
		q.picky.release(o.handle, int(o.n)) // a dead letter may take its time
	}
	n := 0
	for i := range int(o.n) {
		h := o.handle + queue.Handle(i)
		if _, status := q.state.Get(h); status == queue.Unacked {
			n++
			sh.bury(q, h, reasonRejected)
			sh.doLocal()
		}
	}
	sh.giveBack(o.consumer, q.returned(o, n))
	sh.mark(q)
}

// returned is how many deliveries an op ends that found n of its messages: those of a stream may have been deleted while they were out.
func (q *Queue) returned(o *op, n int) int {
	if q.stream != nil {
		return int(o.n)
	}
	return n
}

// giveBack returns the consumer's credit for n settled deliveries.
func (sh *shard) giveBack(c *Consumer, n int) {
	if c == nil || c.NoAck || n == 0 {
		return
	}
	c.unacked -= n
	c.hasRoom()
	if c.share != nil {
		c.share.limit.give(sh, n)
	}
}
