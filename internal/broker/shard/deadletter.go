package shard

import (
	"fiveways.dev/fiveways/internal/core/deadletter"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// deadLetter ends an unacked message of q that is dead: it sends the message to the dead-letter
// exchange, or removes it if q has none. A message that cannot be read from disk is set aside.
func (sh *Shard) deadLetter(q *Queue, h queue.Handle, reason deadletter.Reason) {
	it, status := q.state.Get(h)
	if status != queue.Unacked {
		return
	}
	if !q.Policy().DeadLetter {
		reason.Count(&q.counts)
		sh.settle(q, h, 1)
		return
	}
	env, err := sh.bodies.Load(&q.reader, it)
	if err != nil {
		sh.setAside(q, it, err)
		return
	}
	if ledger := q.content.Jobs; ledger != nil {
		ledger.Finish(h) // no lease outlives its message, even during dead-lettering
	}
	reason.Count(&q.counts)
	if q.Policy().Insists() {
		sh.sendAtLeastOnce(q, deadletter.Waiting{Handle: h, Reason: reason}, env, false)
		return
	}
	sh.sendDead(q, sh.onward(q), env, reason, &handover{source: q, handle: h, size: int64(len(env))})
}

// deadLetterRefused sends a publish that a full queue refused to the dead-letter exchange.
func (sh *Shard) deadLetterRefused(q *Queue, o *Op) {
	if q.Policy().DeadLetter {
		kind := opPublish
		if o.Kind == OpServerPublish {
			kind = o.Kind
			sh.facts.Note() // so that this entry joins the group of the message, and the dead letter waits for it
		}
		sh.sendDead(q, kind, o.Env, deadletter.MaxLength, nil)
	}
}

// sendDead routes a dead message and hands it to its new queues. d is nil if there is no source to
// settle.
func (sh *Shard) sendDead(q *Queue, kind OpKind, env message.Envelope, reason deadletter.Reason, d *handover) {
	m, err := deadletter.Rewrite(env, q.deadLettersFrom(), reason, sh.now)
	if err != nil {
		sh.set.Logger.Error("a dead message cannot be rewritten", "vhost", q.vhost.Name, "queue", q.Name, "err", err)
	}
	var targets Targets
	if err == nil {
		targets = withoutCycles(q.vhost.route(&m), &m)
	}
	if targets.Empty() {
		if d != nil {
			d.settle(sh)
		}
		return
	}
	q.counts.DeadLettered++
	sh.set.Counters.DeadLettered.Add(1)
	sh.handOver(deadLetterOp(&m, kind), targets, d)
}

// deadLettersFrom describes the queue as a source of dead letters.
func (q *Queue) deadLettersFrom() deadletter.From {
	p := q.Policy()
	return deadletter.From{Queue: q.Name, Exchange: p.DeadLetterExchange, Key: p.DeadLetterKey, HasKey: p.HasDeadLetterKey}
}

// deadLetterOp returns the publish of a dead letter.
func deadLetterOp(m *deadletter.Message, kind OpKind) Op {
	return Op{Kind: kind, persistent: m.Peek.Persistent(), priority: m.Peek.Priority, Env: m.Env, ttl: -1}
}

// withoutCycles omits queues to which the message would return in a cycle: it died there before and
// no consumer has rejected it since.
func withoutCycles(t Targets, m *deadletter.Message) Targets {
	kept := t.queues[:0:0]
	for _, q := range t.queues {
		if !m.Cycles(q.Name) {
			kept = append(kept, q)
		}
	}
	return NewTargets(kept)
}
