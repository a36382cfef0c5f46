package amqp

import (
	"fiveways.dev/fiveways/internal/amqpcode"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/queue"
)

// settlement is how a delivery ends.
type settlement uint8

const (
	ack      settlement = iota
	requeue             // to its position, as the client asked
	comeBack            // to its position, without a request of the client
	reject              // dead-lettered, or dropped
)

// refusal returns the settlement of a nack or reject.
func refusal(back bool) settlement {
	if back {
		return requeue
	}
	return reject
}

// settler handles settled deliveries: a session, or a transaction.
type settler interface {
	Ack(q *shard.Queue, c *shard.Consumer, h queue.Handle, n int)
	Requeue(q *shard.Queue, c *shard.Consumer, h queue.Handle, n int)
	Return(q *shard.Queue, c *shard.Consumer, h queue.Handle, n int)
	Reject(q *shard.Queue, c *shard.Consumer, h queue.Handle, n int)
}

// settled is a run of deliveries that end alike and are contiguous in one queue, collected so that
// the engine gets one operation for all of them.
type settled struct {
	how   settlement
	first delivery
	n     int
}

// add extends the run by d. It returns false if d does not continue the run.
func (r *settled) add(how settlement, d delivery) bool {
	if r.n == 0 {
		*r = settled{how, d, 1}
		return true
	}
	if how != r.how || d.queue != r.first.queue || d.consumer != r.first.consumer || d.handle != r.first.handle+queue.Handle(r.n) {
		return false
	}
	r.n++
	return true
}

// emit hands over the run and empties it.
func (r *settled) emit(to settler) {
	if r.n == 0 {
		return
	}
	switch d := &r.first; r.how {
	case ack:
		to.Ack(d.queue, d.consumer, d.handle, r.n)
	case requeue:
		to.Requeue(d.queue, d.consumer, d.handle, r.n)
	case comeBack:
		to.Return(d.queue, d.consumer, d.handle, r.n)
	case reject:
		to.Reject(d.queue, d.consumer, d.handle, r.n)
	}
	*r = settled{}
}

// emitSettled hands the collected run to the session. It must be called before every session method
// except Publish. A publish may overtake an ack, which at worst delivers a message twice, but an
// ack must not overtake a publish that it depends on.
func (c *conn) emitSettled() { c.run.emit(c.session) }

// gather adds a settled delivery to the run.
func (c *conn) gather(how settlement, d delivery) {
	if !c.run.add(how, d) {
		c.emitSettled()
		c.run.add(how, d)
	}
}

// settle ends one delivery or, with multiple, all up to it.
func (ch *channel) settle(how settlement, tag uint64, multiple bool) error {
	c := ch.c
	taken, ok := ch.take(tag, multiple)
	if !ok {
		return faultf(amqpcode.PreconditionFailed, "unknown delivery tag %d", tag)
	}
	if how == ack {
		ch.counts.Acked += uint64(len(taken))
	} else if err := ch.refuseReaders(taken, "basic.nack and basic.reject"); err != nil {
		return err
	}
	if ch.tx != nil {
		ch.tx.settle(how, taken)
	} else {
		for _, d := range taken {
			c.gather(how, d)
		}
	}
	clear(taken)
	return nil
}

// take removes unsettled deliveries: the one called tag or, with multiple, all up to it. The result
// is valid until the next take.
func (ch *channel) take(tag uint64, multiple bool) (taken []delivery, ok bool) {
	c := ch.c
	c.out.mu.Lock()
	defer c.out.mu.Unlock()
	if multiple {
		taken, ok = ch.unacked.takeTo(c.taken[:0], tag)
	} else {
		var d delivery
		if d, ok = ch.unacked.take(tag); ok {
			taken = append(c.taken[:0], d)
		}
	}
	if len(ch.tookBack.runs) > 0 {
		taken, ok = ch.takeLate(taken, ok, tag, multiple)
	}
	if taken != nil {
		c.taken = taken
	}
	return taken, ok
}

// takeLate completes take on a channel with deliveries that were returned because they were late;
// these count as settled. The caller holds output.mu.
func (ch *channel) takeLate(taken []delivery, ok bool, tag uint64, multiple bool) ([]delivery, bool) {
	if !ok {
		if ok = ch.tookBack.take(tag); ok && multiple {
			taken = ch.unacked.takeBelow(taken, tag)
		}
	}
	if ok && multiple {
		ch.tookBack.takeTo(tag)
	}
	return taken, ok
}

// requeueAll returns all unsettled deliveries.
func (ch *channel) requeueAll() {
	taken, _ := ch.take(0, true)
	ch.comeBack(taken)
}

// comeBack returns the deliveries that take has removed to their queues.
func (ch *channel) comeBack(taken []delivery) {
	for _, d := range taken {
		ch.c.gather(comeBack, d)
	}
	clear(taken)
	ch.c.emitSettled()
}

// recover redelivers all unsettled deliveries.
func (ch *channel) recover(back bool) error {
	if !back {
		return faultf(amqpcode.NotImplemented, "requeue=false")
	}
	taken, _ := ch.take(0, true)
	if err := ch.refuseReaders(taken, "basic.recover"); err != nil {
		return err
	}
	ch.comeBack(taken)
	return nil
}
