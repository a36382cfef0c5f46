package broker

import "fiveways/internal/core/queue"

// defaultRetryMin is the first wait of a returned message where the queue names
// none, ms.
const defaultRetryMin = 1000

// maxRetry bounds a wait, ms: the sum with the clock stays in range.
const maxRetry = 1 << 52

// requeue returns deliveries to their place in the queue.
func (sh *shard) requeue(o *op) {
	q := o.queue
	if q.gone {
		sh.giveBack(o.consumer, int(o.n))
		return
	}
	if q.picky != nil {
		q.picky.release(o.handle, int(o.n))
	}
	n := sh.comeBack(q, o)
	q.setBlocked(o.handle, int(o.n))
	sh.wakeTakers(q, o.handle, int(o.n))
	sh.setEarly(q, o.handle, int(o.n))
	sh.giveBack(o.consumer, q.returned(o, n))
	sh.mark(q)
	sh.dropHead(q) // before consumers that wait get any of it, as in RabbitMQ
}

// putBack returns n contiguous deliveries and records it. They are ready, or
// from due (unix ms) on when it is not 0.
func (sh *shard) putBack(q *Queue, h queue.Handle, n int, due int64) int {
	found := 0
	for i := range n {
		h := h + queue.Handle(i)
		if it, status := q.state.Get(h); status == queue.Unacked && q.state.Requeue(h, it.Count+1, due) {
			found++
		}
	}
	q.counts.Returned += uint64(found)
	if q.jobs != nil {
		q.jobs.book.End(h, n)
	}
	if found > 0 && q.Durable {
		if due == 0 {
			sh.entry.data = appendRange(sh.entry.data, factRequeue, q.ID, h, n)
		} else {
			sh.entry.data = appendRetry(sh.entry.data, q.ID, h, n, due)
		}
		sh.sub++
	}
	return found
}

// comeBack returns deliveries to their queue, which may limit returns or make returned messages
// wait. One whose last millisecond has begun expires: with a TTL of 0 it was for consumers that
// waited when it came. Neighbours with one fate share a fact.
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
			sh.bury(q, h, reasonDeliveryLimit)
			sh.doLocal()
			continue
		}
		if it.Expires != 0 && it.Expires <= sh.now+1 {
			flush()
			sh.bury(q, h, reasonExpired)
			sh.doLocal()
			continue
		}
		at := o.due
		if at == 0 {
			at = q.Policy().retryAt(sh.now, count, o.kind == opRequeue)
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

// retryAt is when a message that came back for the count-th time is ready
// again, unix ms; 0 is at once. refused tells that a consumer gave it back.
func (p *QueuePolicy) retryAt(now, count int64, refused bool) int64 {
	switch p.RetryType {
	case RetryDisabled:
		return 0
	case RetryFailed:
		if !refused {
			return 0
		}
	case RetryReturned:
		if refused {
			return 0
		}
	}
	step, most := p.RetryMin, p.RetryMax
	if step < 0 {
		step = defaultRetryMin
	}
	if most < 0 {
		most = maxRetry
	}
	if step == 0 || most == 0 {
		return 0
	}
	if count > most/step {
		return now + most
	}
	return now + step*count
}
