package shard

import (
	"cmp"
	"slices"

	"fiveways.dev/fiveways/internal/core/forward"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/core/routing"
)

const (
	forwardStep      = 1024     // messages that leave an exchange buffer in one step
	bufferEntryBytes = 16 << 10 // bounds entries with delayed messages: reading one reads its entry
)

// ForwardOp returns the op that publishes a message as its sender requested, starting now.
func ForwardOp(m *forward.Message) Op {
	return Op{Kind: opPublish, persistent: m.Peek.Persistent(), priority: m.Peek.Priority, Env: m.Env, ttl: m.TTL()}
}

// intoBuffer handles a publish whose target is an exchange buffer. It may drop the target, set the
// time until which the message stays, or replace the buffer with the exchange's own targets. It
// returns the buffer if that must record the message's key once the message is accepted.
func (sh *Shard) intoBuffer(o *Op) (once *Queue) {
	q := o.Queue
	m, err := forward.Read(o.Env)
	if q.gone || err != nil { // the protocol has checked it
		return nil
	}
	if q.buffer.Keeps {
		o.ttl = -1 // for a queue that is bound later, it counts from then
		if v, _ := message.HeaderLookup(m.Peek.Headers, noStoreHeader); v == true {
			o.Queue = nil
		}
		return nil
	}
	if q.Policy().Deduplicate {
		if sh.known(q, o) {
			o.Queue = nil
			return nil
		}
		once = q
	}
	if targets, ok := sh.throughBuffer(o, &m); ok {
		o.Queue, o.More = nil, nil
		if !targets.Empty() {
			o.Queue, o.More = targets.queues[0], targets.queues[1:]
		}
		return once
	}
	if d := m.Delay(); d > 0 && q.buffer.Delays {
		o.due = max(o.due, sh.now+d+1) // the current millisecond may be almost over
	}
	o.ttl = -1 // its time to live begins when it leaves
	return once
}

// lookThrough is throughBuffer for a publish that may still be refused.
func (sh *Shard) lookThrough(o *Op) (t Targets, ok bool) {
	m, err := forward.Read(o.Env)
	if err != nil {
		return t, false
	}
	return sh.throughBuffer(o, &m)
}

// throughBuffer finds the queues that a publish to an exchange buffer can reach at once and in the
// same entry. ok is false if the message must stay, or if the queues are on other shards.
func (sh *Shard) throughBuffer(o *Op, m *forward.Message) (t Targets, ok bool) {
	r := o.Queue.buffer
	if o.due > sh.now || r.Keeps || r.Delays && m.Delay() > 0 {
		return t, false
	}
	t, ok = o.Queue.vhost.routeOut(r.Exchange, m, routing.PastFirst)
	return t, ok && t.within(sh)
}

// attendBuffer forwards messages that are due to leave the buffer, and sets the timer for the rest.
func (sh *Shard) attendBuffer(q *Queue) {
	if q.buffer.Keeps {
		q.state.Due(sh.now)
		sh.limitLength(q)
		return
	}
	sh.forward(q)
	at := q.state.NextEvent()
	if at <= sh.now || q.state.Ready() > 0 || q.packing.More() {
		at = sh.now + DeadRetry // it stopped early
	}
	sh.timers.set(q, at)
}

// forward forwards up to forwardStep messages that are due to leave the buffer, in order of their
// times.
func (sh *Shard) forward(q *Queue) {
	if sh.set.Resting.Load() {
		return
	}
	sh.expire(q) // expired messages do not leave
	left := forwardStep
	for left > 0 && sh.deadBytes < MaxDeadBytes && q.state.NextEvent() <= sh.now {
		if sh.due = q.state.LendDue(sh.now, left, sh.due[:0]); len(sh.due) == 0 {
			break // the timer was for a message that is gone
		}
		slices.SortFunc(sh.due, func(a, b queue.Item) int {
			return cmp.Or(cmp.Compare(a.Due, b.Due), cmp.Compare(a.Handle, b.Handle))
		})
		for i := range sh.due {
			sh.forwardOne(q, &sh.due[i])
		}
		left -= len(sh.due)
	}
	for left > 0 && sh.deadBytes < MaxDeadBytes && q.state.NextEvent() > sh.now {
		it := q.state.Next(sh.now)
		if it == nil {
			break
		}
		held := *it
		sh.forwardOne(q, &held)
		left--
	}
	clear(sh.due)
}

// forwardOne forwards one message, which is unacked.
func (sh *Shard) forwardOne(q *Queue, it *queue.Item) {
	env, err := sh.bodies.LoadAside(it)
	var m forward.Message
	if err == nil {
		m, err = forward.Read(env)
	}
	if err != nil {
		sh.setAside(q, it, err)
		return
	}
	sh.handedOut(q, it, false, false)
	d := &handover{source: q, handle: it.Handle, size: int64(len(env))}
	if it.Due != 0 {
		m.EndDelay()
	}
	targets, ok := q.vhost.routeOut(q.buffer.Exchange, &m, routing.PastFirst)
	if !ok {
		return // the exchange is being deleted; if that fails, the message must still be here after a restart
	}
	if targets.Empty() {
		d.settle(sh)
		return
	}
	o := ForwardOp(&m)
	o.Kind = sh.onward(q)
	o.deadline = it.Expires                // messages in an exchange buffer expire only by their deadline
	o.flags = it.Flags & queue.Redelivered // it may have been delivered before a crash, ahead of the log
	sh.handOver(o, targets, d)
	sh.doLocal()
}
