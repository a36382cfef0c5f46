package shard

import (
	"math"
	"slices"

	"fiveways.dev/fiveways/internal/broker/bodies"
	"fiveways.dev/fiveways/internal/core/deadletter"
	"fiveways.dev/fiveways/internal/core/dispatch"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/forward"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/core/shardstate"
)

// MaxSpan bounds the durations that clients give, ms, so that sums with times do not overflow.
const MaxSpan = forward.MaxDelay

// Context is a queue at its shard while a command or a Feature has the shard, with all that
// packages above this one may do with it. They read the durable state of the queue in Content. They
// change it through the methods here, which also do what follows from a change, or through Facts,
// which do not. State of the process, which no log records, is in Deliveries.
//
// It is valid until the method that was given it returns, and on the goroutine of that method.
type Context struct {
	sh *Shard
	q  *Queue
}

// ContextOf is the Context of a queue, for the goroutine that has its shard.
func ContextOf(q *Queue) Context { return Context{q.shard, q} }

// Queue returns the queue.
func (at Context) Queue() *Queue { return at.q }

// Shard returns the number of the shard.
func (at Context) Shard() uint32 { return at.sh.ID }

// Gone reports whether the queue was deleted. The queue of Run is not.
func (at Context) Gone() bool { return at.q.gone }

// Now returns the time of the current round, unix ms.
func (at Context) Now() int64 { return at.sh.now }

// Content returns the durable state of the queue.
func (at Context) Content() *shardstate.Queue { return at.q.content }

// Facts returns the recorder, which changes Content and records that.
func (at Context) Facts() *shardstate.Recorder { return at.sh.facts }

// Deliveries returns the messages and their states.
func (at Context) Deliveries() *queue.Deliveries { return at.q.state }

// Changed has the shard attend to the queue before the round ends: consumers get messages that are
// ready now, timers are set.
func (at Context) Changed() { at.sh.mark(at.q) }

// Use restarts the time after which an unused queue is deleted.
func (at Context) Use() { at.q.used(at.sh.now) }

// Counts are what has happened to the messages of the queue, the caller's to read only.
func (at Context) Counts() *queue.Counts {
	at.q.freeProbe()
	return &at.q.counts
}

// Memory is how many bytes the messages of the queue take in memory.
func (at Context) Memory() int64 { return at.q.hot }

// Active is when something was last done with the queue, unix ms; 0: nothing was since the start.
func (at Context) Active() int64 { return at.q.active }

// Hidden is how many of the scheduled messages are not shown (HeldBack).
func (at Context) Hidden() int { return at.q.hidden() }

// Consumers are those of the queue, the caller's to read only; ConsumerOf tells more of one.
func (at Context) Consumers() *dispatch.Consumers { return &at.q.consumers }

// HasExclusiveConsumer reports whether the queue has a consumer that wants no others.
func (at Context) HasExclusiveConsumer() bool { return at.q.exclusive() }

// Empty reports whether the queue has no message in any state.
func (at Context) Empty() bool { return at.q.isEmpty() }

// Other returns the Context of another queue, which the command's Others has named. It may be used
// only if StandsStill.
func (at Context) Other(q *Queue) Context { return ContextOf(q) }

// StandsStill reports whether the command may use another queue: its shard is this one, or stands
// still for the command. In Do and DoAll that is so for all queues that Others has named; in Await
// it need not be.
func (at Context) StandsStill(q *Queue) bool {
	return at.sh == q.shard || slices.Contains(at.sh.still, q.shard)
}

// CatchUp brings the queue to the present time: leases that are over end, scheduled messages that
// are due are ready. The queue counts as used.
func (at Context) CatchUp() { at.sh.catchUp(at.q) }

// Publish publishes a message to the queue for a command. The targets and the confirm of p are not
// used. A message that only moves (p.Reserved) does not count as published by a client. Errors:
// ErrRejected.
func (at Context) Publish(by *Client, p *Publish) error { return at.publish(opPublish, by, p) }

// PublishFront is Publish before all other messages of the queue. Errors: ErrNoFront (a queue with
// 255 priorities has no place there), ErrRejected.
func (at Context) PublishFront(by *Client, p *Publish) error {
	if at.q.Policy().MaxPriority == math.MaxUint8 {
		return at.q.Fail(failure.ErrNoFront)
	}
	return at.publish(opPublishFront, by, p)
}

func (at Context) publish(kind OpKind, by *Client, p *Publish) error {
	o := p.Op()
	o.Kind, o.Queue = kind, at.q
	at.sh.tapPublish(by, &o)
	if !at.sh.publish(&o) {
		return at.q.Fail(failure.ErrRejected)
	}
	if !p.Reserved {
		at.q.counts.Direct++
	}
	return nil
}

// Expiry returns the time at which p would expire if it were published to the queue now, unix ms,
// 0: never.
func (at Context) Expiry(p *Publish) int64 {
	o := p.Op()
	return at.sh.deadline(at.q, &o)
}

// Settle removes n contiguous messages from the queue; handles without a message are ignored.
func (at Context) Settle(h queue.Handle, n int) { at.sh.settle(at.q, h, n) }

// Ack acknowledges a delivery to a consumer, which may be nil.
func (at Context) Ack(c *Consumer, h queue.Handle) {
	at.sh.ack(&Op{Kind: OpAck, Queue: at.q, Consumer: c, Handle: h, N: 1})
}

// Acked counts a message as acknowledged.
func (at Context) Acked() { at.q.counts.Acked++ }

// Requeue returns a delivery that its consumer gave back. It is ready at due (unix ms), with 0 at
// the time that the queue's policy says.
func (at Context) Requeue(h queue.Handle, due int64) {
	at.sh.requeue(&Op{Kind: OpRequeue, Queue: at.q, Handle: h, N: 1, due: due})
}

// Reject ends a delivery that its consumer refused: it is dead-lettered, or removed. When the dead
// letter may go to another shard, it is first recorded that the message is dead, so that a crash
// meanwhile does not make it ready again.
func (at Context) Reject(h queue.Handle) {
	sh, q := at.sh, at.q
	if q.selective != nil {
		q.selective.Release(h, 1) // now: the dead letter may take a while
	}
	if q.Policy().DeadLetter && len(sh.set.All) > 1 {
		sh.recordDead(q, h)
	}
	sh.deadLetter(q, h, deadletter.Rejected)
	sh.doLocal()
}

// Dead reports whether a message is on its way to the dead-letter exchange.
func (at Context) Dead(it *queue.Item) bool {
	_, dead := deadletter.ReasonOf(it.Due)
	return dead
}

// Replace replaces a message by another one, which is ready at due and expires at expires (unix ms,
// 0: now, never).
func (at Context) Replace(h queue.Handle, env message.Envelope, expires, due int64) {
	at.sh.facts.Replace(at.q.content, h, env, expires, due)
	at.sh.mark(at.q)
}

// WhenDurable has fn called, on the goroutine that writes the log, when all that was changed by now
// is durable, or with an error when it never will be. fn must not wait.
func (at Context) WhenDurable(fn func(error)) {
	at.sh.log.WhenRecorded(fn)
}

// Clear removes the ready messages and returns their number.
func (at Context) Clear() int { return at.sh.clear(at.q) }

// LetGo deletes a queue that was just cleared by its name, if it is implicit and unused.
func (at Context) LetGo() { at.sh.letGoCleared(at.q) }

// IsEarly reports whether the queue has, or had, a persistent message of the server that is not
// durable: nothing that may show it may leave before it is.
func (at Context) IsEarly() bool { return at.q.serverEntry > at.sh.log.UpTo() }

// Take hands out the first ready message, with back the last one, to the session of a command; nil
// when no message can be had. With settled the caller settles it next; otherwise it is unacked. The
// item is a copy, valid until the next Take.
func (at Context) Take(by *Client, back, settled bool) (it *queue.Item) {
	sh, q := at.sh, at.q
	q.used(sh.now)
	for again := true; it == nil && again; {
		if back {
			it, again = sh.getLast(q, settled)
		} else {
			it, again = sh.getNext(q, settled)
		}
	}
	if it == nil {
		return nil
	}
	sh.taken = *it // settling may change the original
	sh.handedOut(q, it, false, settled)
	d := newDelivery(q, it)
	sh.tapDelivery(&d, holder{client: by})
	sh.mark(q)
	return &sh.taken
}

// Release returns a message that was taken and not used to its place, as if it had not been taken.
func (at Context) Release(h queue.Handle) { at.sh.release(&Op{Queue: at.q, Handle: h, N: 1}) }

// HoldGroup reserves the message group of an unacked message for it.
func (at Context) HoldGroup(h queue.Handle) { at.sh.holdGroup(at.q, h) }

// Bodies reads messages of the shard that are not in memory.
func (at Context) Bodies() *bodies.Bodies { return at.sh.bodies }

// Load returns the message of an item; it reads it from disk when it is not in memory.
func (at Context) Load(it *queue.Item) (message.Envelope, error) {
	return at.sh.bodies.LoadAside(it)
}

// PageMessages and PageLooks bound the work of one command, because the shard stands still for it:
// the messages that it may load, and the places that it may look at.
const (
	PageMessages = 256
	PageLooks    = 4096
)

// MinLookBytes is the least that LookBytes returns outside tests.
const MinLookBytes = 1 << 20

// LookBytes bounds what a command may return: the bytes of its messages, plus ShownBytes for each.
func (at Context) LookBytes() int64 { return at.sh.set.LookBytes }

// ShownBytes is about the memory that a returned message takes beside its body.
const ShownBytes = 64
