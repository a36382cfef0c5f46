package broker

import (
	"math"
	"slices"

	"fiveways/internal/core/deadletter"
	"fiveways/internal/core/forward"
	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
	"fiveways/internal/core/shardstate"
	"fiveways/internal/storage/store"
)

// MaxSpan bounds the spans of time that clients give, ms, so that sums with times stay in range.
const MaxSpan = forward.MaxDelay

// Context is a queue at its shard, for as long as a command or a Feature has the shard: all that
// packages above this one may do with it. What is durable of the queue they read in Content and
// change through Facts or the methods here, which do what follows, too; what is of the process
// alone is in Deliveries.
//
// It is valid until the method that was given it returns, and on its goroutine.
type Context struct {
	sh *shard
	q  *Queue
}

// Queue is the queue itself.
func (at Context) Queue() *Queue { return at.q }

// Shard is the number of the shard.
func (at Context) Shard() uint32 { return at.sh.id }

// Gone reports whether the queue was deleted. That of Run is there.
func (at Context) Gone() bool { return at.q.gone }

// Now is the time, unix ms: one for all that is done in one go.
func (at Context) Now() int64 { return at.sh.now }

// Content is what the log knows of the queue.
func (at Context) Content() *shardstate.Queue { return at.q.content }

// Facts changes it. Nothing follows from that but what the change itself says.
func (at Context) Facts() *shardstate.Recorder { return at.sh.facts }

// Deliveries are the messages and what is happening to them.
func (at Context) Deliveries() *queue.Deliveries { return at.q.state }

// Changed has the queue looked at before the shard does something else: consumers get what is ready
// now, timers are set.
func (at Context) Changed() { at.sh.mark(at.q) }

// Use restarts the time after which an unused queue goes.
func (at Context) Use() { at.q.used(at.sh.now) }

// Empty reports whether the queue has no message, whatever is happening to it.
func (at Context) Empty() bool { return at.q.isEmpty() }

// Other is another queue, one that the command's Others has named. Before it is touched,
// StandsStill says whether it may be.
func (at Context) Other(q *Queue) Context { return Context{q.shard, q} }

// StandsStill reports whether the command may touch another queue: that is on the same shard, or on
// one that stands still for the command. In Do and DoAll this holds for what Others has named, in
// Await it need not.
func (at Context) StandsStill(q *Queue) bool {
	return at.sh == q.shard || at.sh.meeting != nil && slices.Contains(at.sh.meeting.here, q.shard)
}

// CatchUp brings the queue to the time that it is: leases that are over end, what is due is ready.
// The queue counts as used.
func (at Context) CatchUp() { at.sh.catchUp(at.q) }

// Publish publishes a message to the queue alone, whatever the targets of p are, for a command. Of
// p the confirm is not used; a message that only moves (Reserved) does not count as published by a
// client. Errors: ErrRejected.
func (at Context) Publish(by *OnQueue, p *Publish) error { return at.publish(opPublish, by, p) }

// PublishFront is Publish before all other messages of the queue. Errors: ErrNoFront (a queue with
// 255 priorities has no place there), ErrRejected.
func (at Context) PublishFront(by *OnQueue, p *Publish) error {
	if at.q.Policy().MaxPriority == math.MaxUint8 {
		return at.q.Fail(ErrNoFront)
	}
	return at.publish(opPublishFront, by, p)
}

func (at Context) publish(kind opKind, by *OnQueue, p *Publish) error {
	o := p.op()
	o.kind, o.queue = kind, at.q
	at.sh.tapPublish(by, &o)
	if !at.sh.publish(&o) {
		return at.q.Fail(ErrRejected)
	}
	if !p.Reserved {
		at.q.counts.Direct++
	}
	return nil
}

// Expiry is when a message would expire in the queue if it were published now, unix ms, 0 never.
func (at Context) Expiry(p *Publish) int64 {
	o := p.op()
	return at.sh.deadline(at.q, &o)
}

// Settle takes n contiguous messages, or those of them that are there, out of the queue for good.
func (at Context) Settle(h queue.Handle, n int) { at.sh.settle(at.q, h, n) }

// Acked counts a message whose consumer settles it.
func (at Context) Acked() { at.q.counts.Acked++ }

// Requeue returns a delivery that its consumer gave back: it is ready at due (unix ms), with 0 when
// the queue says.
func (at Context) Requeue(h queue.Handle, due int64) {
	at.sh.requeue(&op{kind: opRequeue, queue: at.q, handle: h, n: 1, due: due})
}

// Reject ends a delivery that its consumer gave up: it is dead-lettered, or gone. That it is dead
// is recorded first when its letter may have to go to another shard: a crash does not bring it
// back.
func (at Context) Reject(h queue.Handle) {
	sh, q := at.sh, at.q
	if q.selective != nil {
		q.selective.Release(h, 1) // a dead letter may take its time
	}
	if q.Policy().DeadLetter && len(sh.b.shards) > 1 {
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

// Replace puts another message in the place of one, ready at due and expiring at a time (unix ms).
func (at Context) Replace(h queue.Handle, env message.Envelope, expires, due int64) {
	at.sh.facts.Replace(at.q.content, h, env, expires, due)
	at.sh.mark(at.q)
}

// WakeTakers wakes the calls that wait for one of n contiguous messages, after a change to them.
func (at Context) WakeTakers(h queue.Handle, n int) { at.sh.wakeTakers(at.q, h, n) }

// Clear removes the messages that are ready, and returns how many those were.
func (at Context) Clear() int { return at.sh.clear(at.q) }

// LetGo has a queue go that was just cleared by name, if nobody needs it.
func (at Context) LetGo() { at.sh.letGoCleared(at.q) }

// Take hands out the next ready message to the session of a command, with back the last one; nil
// when none can be had. With settled the caller settles it before it does anything else; otherwise
// the message is unacked. The item is valid until the next Take.
func (at Context) Take(by *OnQueue, back, settled bool) (it *queue.Item) {
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
	sh.taken = *it // what settling it may change
	sh.got(q, it, settled)
	d := newDelivery(q, it)
	sh.tapDelivery(&d, holder{session: by.session})
	sh.mark(q)
	return &sh.taken
}

// Release returns a message that was taken and not used: it is at its place again, as if it had not
// been taken.
func (at Context) Release(h queue.Handle) { at.sh.release(&op{queue: at.q, handle: h, n: 1}) }

// HoldGroup has the group of a message that is out be held for it.
func (at Context) HoldGroup(h queue.Handle) { at.sh.holdGroup(at.q, h) }

// Load is the message of an item, read from the disk where only that has it.
func (at Context) Load(it *queue.Item) (message.Envelope, error) {
	if it.Env != nil {
		return it.Env, nil
	}
	return at.sh.loadAside(it)
}

// Page returns how many messages a command may take on or look at in one go, and how many places it
// may look at: the shard stands still for it.
func (at Context) Page() (messages, looks int) { return pageMessages, pageLooks }

// LookBytes is how much a command may give out, bytes of messages with ShownBytes for each.
func (at Context) LookBytes() int64 { return at.sh.b.lookBytes }

// ShownBytes is what a message that is shown takes beside its body, about.
const ShownBytes = 64

// InOrder reads messages of the queue in order and ahead. Its reader is not the queue's own, which
// stands elsewhere.
func (at Context) InOrder() *InOrder { return &InOrder{at: at} }

// InOrder is a reader of messages.
type InOrder struct {
	at     Context
	reader *store.Reader // nil: nothing was only on disk
}

// Load is that of the Context.
func (r *InOrder) Load(it *queue.Item) (message.Envelope, error) {
	sh := r.at.sh
	switch {
	case it.Env != nil:
		return it.Env, nil
	case it.Flags&queue.Scratch != 0:
		return sh.load(r.at.q, it)
	case r.reader == nil:
		r.reader = sh.b.store.NewReader(sh.id)
	}
	fact, err := r.reader.Read(it.Index, it.Sub)
	if err != nil {
		return nil, err
	}
	return bodyOf(fact, &sh.scratch)
}
