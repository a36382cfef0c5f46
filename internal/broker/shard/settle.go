package shard

import (
	"fiveways.dev/fiveways/internal/core/deadletter"
	"fiveways.dev/fiveways/internal/core/queue"
)

// ack settles n contiguous deliveries.
func (sh *Shard) ack(o *Op) {
	q := o.Queue
	if q.gone {
		sh.giveBack(o.Consumer, int(o.N))
		sh.confirmAck(o, 0, false)
		return
	}
	n, logged := sh.settle(q, o.Handle, int(o.N))
	if o.Kind == OpReject {
		q.counts.Rejected += uint64(n)
	} else {
		q.counts.Acked += uint64(n)
	}
	sh.giveBack(o.Consumer, q.returned(o, n))
	sh.confirmAck(o, n, logged)
	sh.mark(q)
}

// settle removes n contiguous messages permanently. It returns how many existed, and whether the
// removal was recorded.
func (sh *Shard) settle(q *Queue, h queue.Handle, n int) (found int, logged bool) {
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
func (sh *Shard) reject(o *Op) {
	q := o.Queue
	if q.gone || !q.Policy().DeadLetter {
		sh.ack(o)
		return
	}
	if q.selective != nil {
		q.selective.Release(o.Handle, int(o.N)) // a dead letter may take a while
	}
	n := 0
	for i := range int(o.N) {
		h := o.Handle + queue.Handle(i)
		if _, status := q.state.Get(h); status == queue.Unacked {
			n++
			sh.deadLetter(q, h, deadletter.Rejected)
			sh.doLocal()
		}
	}
	sh.giveBack(o.Consumer, q.returned(o, n))
	sh.mark(q)
}

// returned is the number of deliveries that an op ends if it found n of its messages. Entries of a
// stream may have been deleted while they were out.
func (q *Queue) returned(o *Op, n int) int {
	if q.content.Stream != nil {
		return int(o.N)
	}
	return n
}

// giveBack returns the credit for n settled deliveries to a consumer, which may be nil.
func (sh *Shard) giveBack(c *Consumer, n int) {
	if c != nil {
		c.state.Returned(n)
	}
}

// release returns n contiguous messages to their positions.
func (sh *Shard) release(o *Op) {
	q := o.Queue
	if q.gone {
		return
	}
	if q.selective != nil {
		q.selective.Release(o.Handle, int(o.N))
	}
	for i := range queue.Handle(o.N) {
		q.state.Release(o.Handle+i, sh.now)
	}
	if q.after != nil {
		q.after.Block(o.Handle, int(o.N))
	}
	sh.loansEnded(q, o.Handle, int(o.N))
	q.setEarly(o.Handle, int(o.N))
	sh.mark(q)
	sh.dropHead(q)
}

// clear removes the ready messages and returns their number.
func (sh *Shard) clear(q *Queue) (messages int) {
	messages = q.state.Ready()
	var gone []run
	sh.facts.Purge(q.content, func(h queue.Handle, n int) {
		if q.after != nil || q.feature.Load() != nil {
			gone = append(gone, run{h, n})
		}
	})
	for _, r := range gone {
		if q.after != nil {
			sh.freed(q, r.from, r.n, r.n)
		}
		sh.settled(q, r.from, r.n)
	}
	sh.mark(q)
	return messages
}

// confirmAck answers an acknowledgement of n messages. logged means that a fact records it.
func (sh *Shard) confirmAck(o *Op, n int, logged bool) {
	switch {
	case o.Confirm == nil:
	case logged:
		sh.log.Confirm(o.Confirm, o.Seq, o.Queue.promise)
	default:
		sh.answers.Add(o.Confirm, o.Seq, n > 0)
	}
}
