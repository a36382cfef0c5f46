package broker

import (
	"fiveways/internal/core/queue"
	"fiveways/internal/core/stream"
	"fiveways/internal/storage/store"
)

// publish puts a message into its queues on this shard, records it when it is
// persistent and one of the queues is durable, and answers or defers its
// confirm. A queue that refuses it (overflow) turns the answer into a nack; the
// other queues keep it, as in RabbitMQ. The result is false when one refused it.
func (sh *shard) publish(o *op) (ok bool) {
	ok = true
	var once *Queue // a relay that remembers the message's key once other queues have taken the message
	if o.queue != nil && o.queue.relay != nil {
		once = sh.intoRelay(o)
	}
	if o.due <= sh.now {
		o.due = 0
	}
	sh.targets, sh.promise, sh.arriving.looked = sh.targets[:0], store.WaitNot, false
	sh.enqueue(o.queue, o, &ok)
	for _, q := range o.more {
		sh.enqueue(q, o, &ok)
	}
	logged := len(sh.targets) > 0
	if logged {
		sh.record(o)
	}
	if once != nil && ok {
		sh.remember(once, o)
	}
	if len(sh.remembers) > 0 {
		sh.recordKeys()
		logged = true
	}
	if len(sh.entries) > 0 {
		sh.recordEntries()
	}
	if l, isLetter := o.extra.(letter); isLetter {
		l.arrived(sh, ok)
	}
	if o.confirm != nil {
		if logged && ok {
			sh.entry.confirm(o.confirm, o.seq, sh.promise)
		} else {
			sh.answer(o.confirm, o.seq, ok)
		}
	}
	if o.due > 0 && logged && o.queue.relay != nil && len(sh.entry.data) >= relayEntryBytes && !sh.inTx {
		sh.propose()
	}
	// Only now, with the fact recorded, may a consumer get the message or a
	// limit push it out: settle facts must follow the publish.
	sh.limitLength(o.queue)
	for _, q := range o.more {
		sh.limitLength(q)
	}
	return ok
}

// enqueue adds the message to one queue.
func (sh *shard) enqueue(q *Queue, o *op, ok *bool) {
	switch {
	case q == nil:
		return
	case q.gone && o.mustArrive():
		*ok = false
		return
	case q.gone:
		if q.removed {
			sh.passOn(q, o)
		}
		return
	case q.once && sh.known(q, o):
		return
	}
	if q.Policy().Overflow != DropHead && q.full(len(o.env.Body())) {
		*ok = false
		q.counts.Refused++
		if q.Policy().Overflow == RejectPublishDLX {
			sh.deadLetterRefused(q, o)
		}
		return
	}
	var id stream.ID
	if q.stream != nil {
		if id = sh.nextID(q); id.IsZero() {
			*ok = false
			q.counts.Refused++
			return
		}
	}
	it := queue.Item{Size: uint32(len(o.env.Body())), Expires: sh.deadline(q, o), Due: o.due, Env: o.env, Flags: o.flags}
	if o.priority > 0 && q.Policy().MaxPriority > 0 {
		it.Handle = queue.MakeHandle(min(o.priority, q.Policy().MaxPriority), 0)
	}
	if (o.persistent || q.stream != nil) && q.Durable {
		it.Flags |= queue.Persistent
		it.Index, it.Sub = sh.index, sh.sub
	}
	var h queue.Handle
	if o.kind == opPublishFront {
		it.Handle = queue.MakeHandle(q.Policy().MaxPriority+1, 0)
		h = q.state.PublishFront(&it)
	} else {
		h = q.state.Publish(&it)
	}
	if q.stream != nil {
		sh.entries = append(sh.entries, newEntry{q, h, id})
	}
	if q.after != nil {
		sh.arrange(q, h, o)
	}
	if o.order != nil {
		sh.goEarly(q, h, *o.order)
	}
	if q.jobs != nil {
		q.indexJob(h, o.env, o.due)
	}
	if it.Flags&queue.Persistent != 0 {
		sh.targets = append(sh.targets, target{q.ID, h, it.Expires})
		sh.promise = max(sh.promise, q.promise)
	}
	if q.once {
		sh.remember(q, o)
	}
	sh.published(q, h, len(o.env.Body()), o.due)
	if sh.b.opts.Traces != nil {
		sh.traceIn(q, h, o.env)
	}
	sh.mark(q)
}

// deadline is when the message expires in q, unix ms, 0 = never. A TTL of 0
// leaves one millisecond: such a message is delivered at once or expires.
func (sh *shard) deadline(q *Queue, o *op) int64 {
	ttl := o.ttl
	if q.Policy().MessageTTL >= 0 && (ttl < 0 || q.Policy().MessageTTL < ttl) {
		ttl = q.Policy().MessageTTL
	}
	if ttl < 0 {
		return o.deadline
	}
	at := max(sh.now, o.due) + max(ttl, 1)
	if o.deadline != 0 {
		at = min(at, o.deadline)
	}
	return at
}

// record appends the publish fact for sh.targets.
func (sh *shard) record(o *op) {
	p := sh.entry
	if in := &sh.arriving; in.looked && in.copied {
		p.data = appendCopy(p.data, sh.targets, o.due, o.env)
	} else {
		p.data = appendPublish(p.data, sh.targets, o.due, o.env)
	}
	p.refs += len(sh.targets)
	sh.sub++
}

// full tells whether a message of size body bytes is one too many.
func (q *Queue) full(size int) bool {
	p := q.Policy()
	return p.MaxLength >= 0 && int64(q.state.Ready()) >= p.MaxLength ||
		p.MaxLengthBytes >= 0 && q.state.ReadyBytes()+int64(size) > p.MaxLengthBytes
}

// limitLength keeps a bounded queue within its limit after a publish: what a
// waiting consumer can take goes out first, then the head is dropped.
func (sh *shard) limitLength(q *Queue) {
	if q == nil || q.gone || !q.Policy().limited() || q.Policy().Overflow != DropHead {
		return
	}
	sh.dispatch(q)
	sh.dropHead(q)
}

// dropHead drops what is too much for a queue that drops its head.
func (sh *shard) dropHead(q *Queue) {
	p := q.Policy()
	if !p.limited() || p.Overflow != DropHead || q.shrinking {
		return
	}
	for p.exceededBy(q.state) {
		it := sh.oldest(q)
		if it == nil {
			return
		}
		sh.bury(q, it.Handle, reasonMaxLength)
	}
}

// exceededBy tells whether a queue holds more than it may.
func (p *QueuePolicy) exceededBy(st *queue.State) bool {
	return p.MaxLength >= 0 && int64(st.Ready()) > p.MaxLength || p.MaxLengthBytes >= 0 && st.ReadyBytes() > p.MaxLengthBytes
}
