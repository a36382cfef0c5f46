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

// MaxSpan bounds durations that clients choose (ms), so that adding one to a time cannot overflow.
const MaxSpan = forward.MaxDelay

// Context is a queue at its shard while a command or a Feature runs there. It is the complete
// interface of higher packages to the queue. They read the queue's durable state in Content. They
// change it through the methods here, which also handle the consequences, or through Facts, which
// does not. Deliveries is state of the process that the log does not record.
//
// A Context is valid until the method that received it returns, and only on that method's
// goroutine.
type Context struct {
	sh *Shard
	q  *Queue
}

// ContextOf returns the Context of a queue, for the goroutine that runs its shard.
func ContextOf(q *Queue) Context { return Context{q.shard, q} }

// Queue returns the queue.
func (at Context) Queue() *Queue { return at.q }

// Shard returns the number of the shard.
func (at Context) Shard() uint32 { return at.sh.ID }

// Gone reports whether the queue was deleted. That is never so in Run.
func (at Context) Gone() bool { return at.q.gone }

// Now returns the time of the current round in unix ms.
func (at Context) Now() int64 { return at.sh.now }

// Content returns the durable state of the queue.
func (at Context) Content() *shardstate.Queue { return at.q.content }

// Facts returns the recorder, which changes Content and records the change.
func (at Context) Facts() *shardstate.Recorder { return at.sh.facts }

// Deliveries returns the messages and their states.
func (at Context) Deliveries() *queue.Deliveries { return at.q.state }

// Changed makes the shard attend to the queue before the round ends: it delivers messages that are
// ready by then to consumers, and sets timers.
func (at Context) Changed() { at.sh.mark(at.q) }

// Use restarts the time after which an unused queue is deleted.
func (at Context) Use() { at.q.used(at.sh.now) }

// Counts returns the counters of the queue's messages, for reading only.
func (at Context) Counts() *queue.Counts {
	at.q.probe.Free(at.q.state)
	return &at.q.counts
}

// Memory returns the bytes of memory that the queue's messages take.
func (at Context) Memory() int64 { return at.q.hot }

// Active returns when the queue was last used, in unix ms; 0 means not since the start.
func (at Context) Active() int64 { return at.q.active }

// Hidden returns the number of scheduled messages that are not shown (HeldBack).
func (at Context) Hidden() int { return at.q.hidden() }

// Consumers returns the queue's consumers, for reading only; ConsumerOf has more about each.
func (at Context) Consumers() *dispatch.Consumers { return &at.q.consumers }

// HasExclusiveConsumer reports whether the queue has an exclusive consumer.
func (at Context) HasExclusiveConsumer() bool { return at.q.exclusive() }

// Empty reports whether the queue has no message in any state.
func (at Context) Empty() bool { return at.q.isEmpty() }

// Other returns the Context of another queue that the command's Others has named. The caller may
// use it only if StandsStill is true.
func (at Context) Other(q *Queue) Context { return ContextOf(q) }

// StandsStill reports whether the command may use another queue: its shard is this one, or has
// stopped for the command. In Do and DoAll that holds for all queues that Others has named; in
// Await it need not.
func (at Context) StandsStill(q *Queue) bool {
	return at.sh == q.shard || slices.Contains(at.sh.still, q.shard)
}

// CatchUp brings the queue up to the present time: it ends leases that are over, and makes
// scheduled messages that are due ready. The queue counts as used.
func (at Context) CatchUp() { at.sh.catchUp(at.q) }

// Publish publishes a message to the queue for a command. It ignores the targets and the confirm of
// p. A message that is only moved (p.Reserved) does not count as published by a client. Errors:
// ErrRejected.
func (at Context) Publish(by *Client, p *Publish) error { return at.publish(opPublish, by, p) }

// PublishFront is Publish to the front of the queue. Errors: ErrNoFront (a queue with 255
// priorities has no room there), ErrRejected.
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

// Expiry returns the time in unix ms at which p would expire if it were published to the queue now;
// 0 means never.
func (at Context) Expiry(p *Publish) int64 {
	o := p.Op()
	return at.sh.deadline(at.q, &o)
}

// Settle removes n contiguous messages from the queue and ignores handles without a message.
func (at Context) Settle(h queue.Handle, n int) { at.sh.settle(at.q, h, n) }

// Ack acknowledges a delivery to a consumer, which may be nil.
func (at Context) Ack(c *Consumer, h queue.Handle) {
	at.sh.ack(&Op{Kind: OpAck, Queue: at.q, Consumer: c, Handle: h, N: 1})
}

// Acked counts a message as acknowledged.
func (at Context) Acked() { at.q.counts.Acked++ }

// Requeue returns a delivery that its consumer gave back. It is ready at due (unix ms). If due is
// 0, the queue's policy decides.
func (at Context) Requeue(h queue.Handle, due int64) {
	at.sh.requeue(&Op{Kind: OpRequeue, Queue: at.q, Handle: h, N: 1, due: due})
}

// Reject ends a delivery that its consumer refused: the message is dead-lettered or removed. If the
// dead letter may go to another shard, the message is first recorded as dead, so that a crash
// meanwhile does not make it ready again.
func (at Context) Reject(h queue.Handle) {
	sh, q := at.sh, at.q
	if q.selective != nil {
		q.selective.Release(h, 1) // release now: the dead letter may take a while
	}
	if q.Policy().DeadLetter && len(sh.set.All) > 1 {
		sh.recordDead(q, h)
	}
	sh.deadLetter(q, h, deadletter.Rejected)
	sh.doLocal()
}

// Dead reports whether a message is being dead-lettered.
func (at Context) Dead(it *queue.Item) bool {
	_, dead := deadletter.ReasonOf(it.Due)
	return dead
}

// Replace replaces a message with another one, which is ready at due (0: now) and expires at
// expires (0: never), both in unix ms.
func (at Context) Replace(h queue.Handle, env message.Envelope, expires, due int64) {
	at.sh.facts.Replace(at.q.content, h, env, expires, due)
	at.sh.mark(at.q)
}

// WhenDurable registers fn, which is called on the goroutine that writes the log once everything
// changed so far is durable, or with an error if it never will be. fn must not block.
func (at Context) WhenDurable(fn func(error)) {
	at.sh.log.WhenRecorded(fn)
}

// Clear removes the ready messages and returns their number.
func (at Context) Clear() int { return at.sh.clear(at.q) }

// LetGo removes a queue that was just cleared by name, if it is implicit and unused.
func (at Context) LetGo() { at.sh.letGoCleared(at.q) }

// IsEarly reports whether the queue has, or had, a persistent message of the server that is not yet
// durable. Until it is, no answer that could show the message may be sent.
func (at Context) IsEarly() bool { return at.q.serverEntry > at.sh.log.UpTo() }

// Take hands the first ready message, or with back the last one, to the session of a command. It
// returns nil if none is available. With settled the caller settles it next; otherwise it is
// unacked. The item is a copy, valid until the next Take.
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
	sh.taken = *it // a settle may change the original
	sh.handedOut(q, it, false, settled)
	d := newDelivery(q, it)
	sh.tapDelivery(&d, holder{client: by})
	sh.mark(q)
	return &sh.taken
}

// Release undoes Take for a message that is not used: it returns to its position.
func (at Context) Release(h queue.Handle) { at.sh.release(&Op{Queue: at.q, Handle: h, N: 1}) }

// HoldGroup reserves the message group of an unacked message for it.
func (at Context) HoldGroup(h queue.Handle) { at.sh.holdGroup(at.q, h) }

// Bodies returns the reader of the shard's messages that are not in memory.
func (at Context) Bodies() *bodies.Bodies { return at.sh.bodies }

// Load returns the message of an item, from disk if it is not in memory.
func (at Context) Load(it *queue.Item) (message.Envelope, error) {
	return at.sh.bodies.LoadAside(it)
}

// PageMessages and PageLooks bound the messages that one command may load and the positions that it
// may look at, because it blocks the shard.
const (
	PageMessages = 256
	PageLooks    = 4096
)

// MinLookBytes is the minimum of LookBytes outside tests.
const MinLookBytes = 1 << 20

// LookBytes bounds what a command may return: its messages' bytes, plus ShownBytes for each.
func (at Context) LookBytes() int64 { return at.sh.set.LookBytes }

// ShownBytes is roughly the memory that a returned message takes besides its body.
const ShownBytes = 64
