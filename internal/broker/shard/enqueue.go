package shard

import (
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/deadletter"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/storage/store"
)

// publish puts a message into its queues on this shard. It records a persistent message if one of
// the queues is durable. It answers the confirm at once, or when the entry is durable. If a queue
// refuses the message (overflow), the answer is a nack and the result false; the other queues keep
// the message, as in RabbitMQ.
func (sh *Shard) publish(o *Op) (ok bool) {
	ok = true
	sh.promise, sh.duplicate, sh.lostWithQueue = store.WaitNot, false, false
	var once *Queue // an exchange buffer that must record the message's key at the end
	if o.Queue != nil && o.Queue.buffer != nil {
		once = sh.intoBuffer(o)
	}
	if o.due <= sh.now {
		o.due = 0
	}
	m := &sh.incoming
	m.Targets, m.Due, m.Env, m.Flags = m.Targets[:0], o.due, o.Env, o.flags // Copied is set below
	sh.taking, sh.arriving.looked = sh.taking[:0], false
	sh.admit(o.Queue, o, &ok)
	for _, q := range o.More {
		sh.admit(q, o, &ok)
	}
	m.Copied = sh.arriving.looked && sh.arriving.Copied()
	logged := len(m.Targets) > 0 && sh.facts.Publish(m)
	for i, q := range sh.taking {
		sh.accepted(q, m.Targets[i].Handle, o)
	}
	m.Env = nil
	if once != nil && ok && sh.remember(once, o) {
		logged = true
	}
	if o.direct && ok && !sh.duplicate {
		o.Queue.counts.Direct++
	}
	if l, isForwarded := o.Extra.(forwarded); isForwarded {
		l.arrived(sh, ok)
	}
	if o.Confirm != nil {
		if sh.lostWithQueue {
			o.Confirm = sh.set.Definer.AfterDeletion(o.Confirm)
		}
		if ok && (logged || sh.duplicate) {
			sh.log.Confirm(o.Confirm, o.Seq, sh.promise)
		} else {
			sh.answers.Add(o.Confirm, o.Seq, ok)
		}
	}
	if o.due > 0 && logged && o.Queue.buffer != nil && sh.log.Size() >= bufferEntryBytes && !sh.inTx {
		sh.log.Propose()
	}
	// The publish is recorded. Only now may a consumer get the message or a limit drop it: settle
	// facts must follow the publish.
	sh.limitLength(o.Queue)
	for _, q := range o.More {
		sh.limitLength(q)
	}
	return ok
}

// admit decides whether a queue accepts the current message, and then adds it to the targets.
func (sh *Shard) admit(q *Queue, o *Op, ok *bool) {
	switch {
	case q == nil:
		return
	case q.gone && o.mustArrive():
		*ok = false
		return
	case q.gone:
		switch {
		case q.removed:
			sh.passOn(q, o)
		case o.persistent && q.Durable:
			sh.lostWithQueue = true
		}
		return
	case q.once && sh.known(q, o):
		return
	}
	if q.Policy().Overflow != catalog.DropHead && q.full(len(o.Env.Body())) {
		*ok = false
		q.counts.Refused++
		if q.Policy().Overflow == catalog.RejectPublishDLX {
			sh.deadLetterRefused(q, o)
		}
		return
	}
	if q.content.Stream != nil && sh.nextID(q).IsZero() {
		*ok = false
		q.counts.Refused++
		return
	}
	persistent := (o.persistent || q.content.Stream != nil) && q.Durable
	if persistent {
		sh.promise = max(sh.promise, q.promise)
	}
	if q.after != nil {
		sh.lookAtArrival(q, o)
	}
	sh.taking = append(sh.taking, q)
	sh.incoming.To(q.content, q.placeFor(o), sh.deadline(q, o), persistent)
}

// placeFor returns the handle that gives the message its position in q.
func (q *Queue) placeFor(o *Op) queue.Handle {
	switch most := q.Policy().MaxPriority; {
	case o.Kind == opPublishFront:
		return q.state.NextFront(most + 1)
	case o.priority > 0 && most > 0:
		return queue.MakeHandle(min(o.priority, most), 0)
	}
	return 0
}

// accepted handles the consequences of a message that q has accepted.
func (sh *Shard) accepted(q *Queue, h queue.Handle, o *Op) {
	if q.content.Stream != nil {
		sh.facts.AddEntry(q.content, h, sh.nextID(q))
	}
	if q.after != nil {
		q.after.Arrive(h, &sh.arriving.Arrival)
	}
	if o.order != nil {
		sh.goEarly(q, h, *o.order)
	}
	if f := q.feature.Load(); f != nil && q.content.Stream == nil {
		f.OnPublish(Context{sh, q}, h, o.Env, o.due)
	}
	if o.Kind == OpServerPublish && o.persistent {
		q.serverEntry = sh.log.Index() // consumers get it once it is durable, because it reports a change
	}
	if q.once {
		sh.remember(q, o)
	}
	sh.published(q, h, sh.incoming.Size, o.due)
	if sh.traces != nil && q.buffer == nil {
		sh.traces.Published(q.tracePlace(), h, o.Env)
	}
	sh.mark(q)
}

// deadline returns the time in unix ms at which the message expires in q; 0 means never. With a TTL
// of 0 that is now: only a waiting consumer gets it, in this round. Entries of a declared stream
// never expire, whatever their publishers request.
func (sh *Shard) deadline(q *Queue, o *Op) int64 {
	if q.Declared.Stream {
		return 0
	}
	ttl := o.ttl
	if q.Policy().MessageTTL >= 0 && (ttl < 0 || q.Policy().MessageTTL < ttl) {
		ttl = q.Policy().MessageTTL
	}
	if ttl < 0 {
		return o.deadline
	}
	at := max(sh.now, o.due) + ttl
	if o.deadline != 0 {
		at = min(at, o.deadline)
	}
	return at
}

// full reports whether a message with a body of size bytes exceeds the limit of the queue.
func (q *Queue) full(size int) bool {
	p := q.Policy()
	return p.MaxLength >= 0 && int64(q.state.Ready()) >= p.MaxLength ||
		p.MaxLengthBytes >= 0 && q.state.ReadyBytes()+int64(size) > p.MaxLengthBytes
}

// limitLength keeps a queue that drops its head within its limit after a publish: waiting consumers
// get messages first, then the head is dropped.
func (sh *Shard) limitLength(q *Queue) {
	if q == nil || q.gone || !q.Policy().Limited() || q.Policy().Overflow != catalog.DropHead {
		return
	}
	sh.dispatch(q)
	sh.dropHead(q)
}

// dropHead drops the messages that exceed the limit of a queue that drops its head: after a
// transaction if it has one, whose entry may have no room for dead letters.
func (sh *Shard) dropHead(q *Queue) {
	p := q.Policy()
	if !p.Limited() || p.Overflow != catalog.DropHead || q.shrinking {
		return
	}
	if sh.inTx && p.DeadLetter {
		q.overfull = true
		return
	}
	for p.ExceededBy(q.state.Ready(), q.state.ReadyBytes()) {
		it := sh.oldest(q)
		if it == nil {
			return
		}
		sh.deadLetter(q, it.Handle, deadletter.MaxLength)
	}
}

// ServerPublish publishes a message of the server while the shard is stopped.
func (sh *Shard) ServerPublish(o *Op) { sh.publish(o) }
