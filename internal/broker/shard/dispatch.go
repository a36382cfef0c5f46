package shard

import (
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/queue"
)

// dispatch delivers ready messages to the consumers that may get them.
func (sh *Shard) dispatch(q *Queue) {
	q.consumers.Begin()
	sh.dispatchReady(q)
	q.consumers.End()
}

// catchUpConsumers delivers messages that arrived in this round. It runs before an op that takes
// messages or changes the consumers, so that the result is as if each op had its own round.
func (sh *Shard) catchUpConsumers(q *Queue) {
	if q.marked && !q.gone && q.consumers.Len() > 0 {
		sh.dispatch(q)
	}
}

func (sh *Shard) dispatchReady(q *Queue) {
	if q.waking {
		sh.ServeWaiting(q) // calls of Await come before consumers
	}
	if q.Declared.Stream {
		sh.serveReaders(q)
	}
	if q.selective != nil {
		q.selective.Dispatch(&q.consumers, sh.now)
		if q.state.Ready() == q.state.Parked() {
			sh.bodies.CloseReader(&q.reader)
		}
		return
	}
	var sent run
	for q.state.Ready() > 0 && q.consumers.Len() > 0 {
		next := q.consumers.Next()
		if next == nil {
			break
		}
		it := sh.nextReady(q, sh.now-1) // consumers get messages with a TTL of 0, too
		if it == nil {
			next.Unready()
			break
		}
		c, h := ConsumerOf(next), it.Handle
		sh.handTo(q, c, it)
		if c.NoAck && !sent.extend(h) {
			sh.settleRun(q, sent)
			sent = run{h, 1}
		}
	}
	sh.settleRun(q, sent)
	if q.state.Ready() == 0 {
		sh.bodies.CloseReader(&q.reader)
	}
}

// run is n contiguous messages. Deliveries without acknowledgement are settled in runs, because
// settling one by one costs several times as much.
type run struct {
	from queue.Handle
	n    int
}

func (sh *Shard) settleRun(q *Queue, r run) {
	if r.n > 0 {
		sh.settle(q, r.from, r.n)
	}
}

// extend adds h to the run and returns true, if h follows it.
func (r *run) extend(h queue.Handle) bool {
	if r.n == 0 || h != r.from+queue.Handle(r.n) {
		return false
	}
	r.n++
	return true
}

// nextReady lends the next ready message that expires after until (unix ms), with its body loaded.
// A message whose body cannot be read is reported and stays unacked, on disk.
func (sh *Shard) nextReady(q *Queue, until int64) *queue.Item {
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
		env, err := sh.bodies.Load(&q.reader, it)
		if err == nil {
			sh.loaded = *it
			sh.loaded.Env = env
			return &sh.loaded
		}
		sh.setAside(q, it, err)
	}
}

// setAside reports a message whose body cannot be read from disk.
func (sh *Shard) setAside(q *Queue, it *queue.Item, err error) {
	sh.set.Logger.Error("a message cannot be read back and is set aside", "vhost", q.vhost.Name, "queue", q.Name,
		"shard", sh.ID, "index", it.Index, "sub", it.Sub, "err", err)
	sh.set.Counters.Unreadable.Add(1)
}

// deliver collects a delivery for a consumer, and settles it if the consumer does not ack.
func (sh *Shard) deliver(q *Queue, c *Consumer, it *queue.Item) {
	h := it.Handle
	sh.handTo(q, c, it)
	if c.NoAck {
		sh.settle(q, h, 1)
	}
}

// handTo collects one delivery for the consumer's sink.
func (sh *Shard) handTo(q *Queue, c *Consumer, it *queue.Item) {
	out := c.out
	if len(out.list) == 0 {
		sh.lending = append(sh.lending, out)
	}
	out.list = append(out.list, Delivery{
		Consumer: c, Queue: q, Handle: it.Handle, Env: it.Env,
		Redelivered: it.Flags&queue.Redelivered != 0, Count: it.Count,
	})
	if q.vhost.tapped.Load() {
		sh.tapDelivery(&out.list[len(out.list)-1], holder{c.client, c.Channel})
	}
	if (out.late || c.reader != nil || it.Index <= q.serverEntry) && it.Flags&queue.Scratch == 0 {
		out.lastEntry = max(out.lastEntry, it.Index)
	}
	out.bytes += len(it.Env) + 32
	sh.gathered += len(it.Env) + 32
	sh.turns++
	sh.handedOut(q, it, true, c.NoAck)
	c.state.Delivered(sh.turns)
	if out.bytes >= deliverBytes {
		out.flush(sh) // so that the window counts the delivery
	}
}

// Get takes one message for a channel of a session. ok is false if none is ready. left is the
// number of messages still ready. Errors: ErrWrongKind (a declared stream), ErrLogFailed,
// ErrClosed.
func (q *Queue) Get(to *Client, channel int, noAck bool) (d Delivery, left int, ok bool, err error) {
	if q.Declared.Stream {
		return d, 0, false, q.Fail(failure.ErrWrongKind)
	}
	early := false // a crash may remove the message, so wait until that is durable
	for again := true; again && err == nil; {
		err = q.shard.Call(func() {
			again = false
			if !q.gone {
				q.used(q.shard.now)
				d, left, ok, again = q.shard.get(q, noAck, holder{to, channel})
				early = ok && ContextOf(q).IsEarly()
			}
		})
	}
	if early && err == nil {
		err = q.AwaitDurable()
	}
	return d, left, ok, err
}

// get takes one message for Queue.Get. again means that it stopped before it had looked at all
// messages.
func (sh *Shard) get(q *Queue, noAck bool, to holder) (d Delivery, left int, ok, again bool) {
	sh.catchUpConsumers(q)
	it, again := sh.getNext(q, noAck)
	if it == nil {
		if !again {
			q.counts.GotNone++
		}
		return d, 0, false, again
	}
	d = newDelivery(q, it)
	sh.handedOut(q, it, false, noAck)
	sh.tapDelivery(&d, to)
	if noAck {
		sh.settle(q, it.Handle, 1)
	}
	sh.mark(q)
	return d, q.state.Ready(), true, false
}

// getNext lends the first ready message that may be delivered now, or nil. With noAck the caller
// settles it. again means that it stopped before it had looked at all messages.
func (sh *Shard) getNext(q *Queue, noAck bool) (it *queue.Item, again bool) {
	if q.selective != nil {
		return q.selective.Get(sh.now, noAck)
	}
	return sh.nextReady(q, sh.now), false
}

// getLast is getNext from the other end. It skips messages that are set aside for their groups.
func (sh *Shard) getLast(q *Queue, noAck bool) (it *queue.Item, again bool) {
	if it = q.state.LendLast(sh.now); it == nil {
		return nil, false
	}
	if it.Env == nil {
		env, err := sh.bodies.LoadAside(it)
		if err != nil {
			sh.setAside(q, it, err)
			return nil, true
		}
		sh.loaded = *it
		sh.loaded.Env = env
		it = &sh.loaded
	}
	if q.selective != nil && !q.selective.Taken(it, noAck) {
		return nil, true
	}
	return it, false
}

// newDelivery returns the delivery of a message without a consumer.
func newDelivery(q *Queue, it *queue.Item) Delivery {
	return Delivery{Queue: q, Handle: it.Handle, Env: it.Env, Redelivered: it.Flags&queue.Redelivered != 0, Count: it.Count}
}
