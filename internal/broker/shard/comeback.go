package shard

import (
	"fiveways.dev/fiveways/internal/core/deadletter"
	"fiveways.dev/fiveways/internal/core/queue"
)

// requeue returns deliveries to their positions in the queue.
func (sh *Shard) requeue(o *Op) {
	q := o.Queue
	if q.gone {
		sh.giveBack(o.Consumer, int(o.N))
		return
	}
	if q.selective != nil {
		q.selective.Release(o.Handle, int(o.N))
	}
	n := sh.comeBack(q, o)
	if q.after != nil {
		q.after.Block(o.Handle, int(o.N))
	}
	sh.loansEnded(q, o.Handle, int(o.N))
	q.setEarly(o.Handle, int(o.N))
	sh.giveBack(o.Consumer, q.returned(o, n))
	sh.mark(q)
	sh.dropHead(q) // before waiting consumers get any of these messages, as in RabbitMQ
}

// putBack returns n contiguous unacked deliveries, ready at due (unix ms), or now if it is 0.
func (sh *Shard) putBack(q *Queue, h queue.Handle, n int, due int64) int {
	found := sh.facts.Return(q.content, h, n, due)
	q.counts.Returned += uint64(found)
	return found
}

// comeBack returns deliveries to their queue, which may limit returns or delay returned messages. A
// message whose time to live has passed expires; one with a TTL of 0 was only for consumers that
// were waiting when it arrived. Adjacent messages that are ready at the same time share a fact.
func (sh *Shard) comeBack(q *Queue, o *Op) (found int) {
	var start queue.Handle
	var due int64
	n := 0
	flush := func() {
		if n > 0 {
			sh.putBack(q, start, n, due)
		}
		n = 0
	}
	for i := range int(o.N) {
		h := o.Handle + queue.Handle(i)
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
			at = q.Policy().RetryAt(sh.now, count, o.Kind == OpRequeue)
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
