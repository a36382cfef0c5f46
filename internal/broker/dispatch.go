package broker

import (
	"fiveways/internal/core/queue"
)

// dispatch hands ready messages to consumers that may take them.
func (sh *shard) dispatch(q *Queue) {
	if len(q.granted) > 0 {
		q.unblock()
	}
	sh.dispatchReady(q)
	if len(q.granted) > 0 {
		sh.ungrant(q)
	}
}

func (sh *shard) dispatchReady(q *Queue) {
	if q.waking {
		sh.serveWaiting(q) // they come first
	}
	if q.picky != nil {
		sh.dispatchPicky(q)
		return
	}
	for q.state.Ready() > 0 && len(q.consumers.list) > 0 {
		c := q.consumers.next()
		if c == nil {
			return
		}
		it := sh.nextReady(q, sh.now)
		if it == nil {
			c.unready()
			return
		}
		sh.deliver(q, c, it)
	}
	if q.state.Ready() == 0 {
		sh.closeReader(q)
	}
}

// nextReady takes the next message of the queue that lives beyond until (unix ms, now or later), its body loaded. A
// message whose body cannot be read is set aside: it stays on disk, unsettled, and is reported.
func (sh *shard) nextReady(q *Queue, until int64) *queue.Item {
	for {
		if q.early != nil {
			if it := sh.nextEarly(q, until); it != nil {
				return it
			}
		}
		it := q.state.NextBeyond(sh.now, until)
		if it == nil {
			return nil
		}
		if it.Env != nil {
			return it
		}
		env, err := sh.load(q, it)
		if err == nil {
			sh.loaded = *it
			sh.loaded.Env = env
			return &sh.loaded
		}
		sh.setAside(q, it, err)
	}
}

// setAside reports a message whose body the disk does not give back.
func (sh *shard) setAside(q *Queue, it *queue.Item, err error) {
	sh.b.log.Error("a message cannot be read back and is set aside", "vhost", q.vhost.Name, "queue", q.Name,
		"shard", sh.id, "index", it.Index, "sub", it.Sub, "err", err)
	sh.b.counters.unreadable.Add(1)
}

// deliver gathers one delivery for the consumer's sink.
func (sh *shard) deliver(q *Queue, c *Consumer, it *queue.Item) {
	out := c.out
	if len(out.list) == 0 {
		sh.lending = append(sh.lending, out)
	}
	out.list = append(out.list, Delivery{
		Consumer: c, Queue: q, Handle: it.Handle, Env: it.Env,
		Redelivered: it.Flags&queue.Redelivered != 0, Count: it.Count,
	})
	if out.late {
		out.lastEntry = max(out.lastEntry, it.Index)
	}
	out.bytes += len(it.Env) + 32
	sh.gathered += len(it.Env) + 32
	sh.turns++
	c.turn = sh.turns
	sh.delivered(q, it, c.NoAck)
	if c.NoAck {
		sh.settle(q, it.Handle, 1)
	} else {
		c.unacked++
		if c.prefetch > 0 && c.unacked >= c.prefetch {
			c.level.leave(c)
		}
	}
	if out.bytes >= deliverBytes {
		out.flush(sh) // so that the window counts it
	}
}

// outbox gathers in one drain what a shard has for a sink. All consumers of a session on the shard share one: what they get of a queue comes to the
// sink in the order of the queue, whichever of them it is for.
type outbox struct {
	sink  Sink
	list  []Delivery
	bytes int

	late      bool   // the sink gets messages when they are durable
	lastEntry uint64 // the newest entry that one of them is in
	pending   int    // lists that wait for theirs
}

// flush hands what was gathered to the sink.
func (o *outbox) flush(sh *shard) {
	switch {
	case len(o.list) == 0:
		return
	case o.late:
		o.flushLate(sh)
	default:
		o.sink.Deliver(o.list)
	}
	clear(o.list)
	o.list, o.bytes = o.list[:0], 0
}

func (sh *shard) flushDeliveries() {
	for _, out := range sh.lending {
		out.flush(sh)
	}
	clear(sh.lending)
	sh.lending, sh.gathered = sh.lending[:0], 0
}

// get takes one message for Session.Get. again: it had to stop looking for one.
func (sh *shard) get(q *Queue, noAck bool) (d Delivery, left int, ok, again bool) {
	it, again := sh.getNext(q, noAck)
	if it == nil {
		if !again {
			q.counts.GotNone++
		}
		return d, 0, false, again
	}
	d = newDelivery(q, it)
	sh.got(q, it, noAck)
	if noAck {
		sh.settle(q, it.Handle, 1)
	}
	sh.mark(q)
	return d, q.state.Ready(), true, false
}

// getNext lends the first ready message that nobody's group stands in the way of, nil when there is none. again: it had to stop
// looking for one.
func (sh *shard) getNext(q *Queue, noAck bool) (it *queue.Item, again bool) {
	if q.picky != nil {
		return sh.getPicky(q, noAck)
	}
	return sh.nextReady(q, sh.now+1), false // a message with a TTL of 0 is for consumers that wait already
}

// newDelivery is a message that goes to no consumer.
func newDelivery(q *Queue, it *queue.Item) Delivery {
	return Delivery{Queue: q, Handle: it.Handle, Env: it.Env, Redelivered: it.Flags&queue.Redelivered != 0, Count: it.Count}
}
