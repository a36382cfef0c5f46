package broker

import (
	"fiveways/internal/core/deadletter"
	"fiveways/internal/core/queue"
)

// requeue returns deliveries to their place in the queue.
func (sh *shard) requeue(o *op) {
	q := o.queue
	if q.gone {
		sh.giveBack(o.consumer, int(o.n))
		return
	}
	if q.selective != nil {
		q.selective.Release(o.handle, int(o.n))
	}
	n := sh.comeBack(q, o)
	if q.after != nil {
		q.after.Block(o.handle, int(o.n))
	}
	sh.loansEnded(q, o.handle, int(o.n))
	sh.setEarly(q, o.handle, int(o.n))
	sh.giveBack(o.consumer, q.returned(o, n))
	sh.mark(q)
	sh.dropHead(q) // before consumers that wait get any of it, as in RabbitMQ
}

// putBack returns n contiguous deliveries, all of them unacked. They are ready at due (unix ms), or
// now when due is 0.
func (sh *shard) putBack(q *Queue, h queue.Handle, n int, due int64) int {
	found := sh.facts.Return(q.content, h, n, due)
	q.counts.Returned += uint64(found)
	return found
}

// comeBack returns deliveries to their queue, which may limit returns or delay returned messages. A
// message whose time is over expires; one with a TTL of 0 was only for consumers that were waiting
// when it came. Neighbours that are ready at the same time share a fact.
func (sh *shard) comeBack(q *Queue, o *op) (found int) {
	var start queue.Handle
	var due int64
	n := 0
	flush := func() {
		if n > 0 {
			sh.putBack(q, start, n, due)
		}
		n = 0
	}
	for i := range int(o.n) {
		h := o.handle + queue.Handle(i)
		it, status := q.state.Get(h)
		if status != queue.Unacked {
			flush()
			continue
		}
		found++
		count := int64(it.Count) + 1
		if q.Policy().DeliveryLimit >= 0 && count > q.Policy().DeliveryLimit {
			flush()
			sh.deadLetter(q, h, deadletter.DeliveryLimit)
			sh.doLocal()
			continue
		}
		if it.Expires != 0 && it.Expires <= sh.now {
			flush()
			sh.deadLetter(q, h, deadletter.Expired)
			sh.doLocal()
			continue
		}
		at := o.due
		if at == 0 {
			at = q.Policy().RetryAt(sh.now, count, o.kind == opRequeue)
		}
		if n == 0 || at != due {
			flush()
			start, due = h, at
		}
		n++
	}
	flush()
	return found
}
