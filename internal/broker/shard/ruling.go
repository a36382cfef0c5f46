package shard

import (
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/deadletter"
	"fiveways.dev/fiveways/internal/throttle"
)

// Policy returns the rules in force for the queue: its declaration, changed by policies. Any
// goroutine may call it.
func (q *Queue) Policy() *catalog.QueuePolicy {
	if r := q.ruling.Load(); r != nil {
		return &r.QueuePolicy
	}
	return q.Declared
}

// Ruling returns Policy with everything that policies add.
func (q *Queue) Ruling() catalog.Ruling {
	if r := q.ruling.Load(); r != nil {
		return *r
	}
	return catalog.Ruling{QueuePolicy: *q.Declared}
}

// Govern puts a ruling in force for a queue; nil means its declaration. A length limit also applies
// to messages already in the queue. Messages keep the time to live that they got on arrival.
func (sh *Shard) Govern(q *Queue, r *catalog.Ruling) {
	before := q.Ruling()
	q.Rule(r)
	after := q.Ruling()
	if q.gone || before == after {
		return
	}
	q.promise = syncWait(after.Sync, sh.set.Sync)
	if after.Expires != before.Expires {
		q.used(sh.now) // its time until deletion starts now
	}
	if q.dead != nil {
		q.dead.Hasten() // the exchange may have changed
	}
	sh.dispatch(q) // waiting consumers get what they can take first
	sh.shrink(q)
	sh.mark(q)
}

// ShrinkStep is the number of messages that a shard drops before it serves its other queues.
const ShrinkStep = 4096

// shrink drops messages beyond a limit that was set later, at most ShrinkStep at a time. The
// queue's timer does the rest.
func (sh *Shard) shrink(q *Queue) {
	p := q.Policy()
	q.shrinking = false
	if p.Overflow != catalog.DropHead {
		return
	}
	for n := 0; p.ExceededBy(q.state.Ready(), q.state.ReadyBytes()); n++ {
		if n == ShrinkStep || sh.deadBytes >= MaxDeadBytes || sh.set.Resting.Load() {
			q.shrinking = true
			return
		}
		it := sh.oldest(q)
		if it == nil {
			return
		}
		sh.deadLetter(q, it.Handle, deadletter.MaxLength)
		sh.doLocal()
		if sh.log.Full() {
			sh.log.Propose()
		}
	}
}

// Rule applies a ruling to the queue; with nil, its declaration.
func (q *Queue) Rule(r *catalog.Ruling) {
	q.ruling.Store(r)
	rates := catalog.Rates{}
	if r != nil {
		rates = r.Rates
	}
	q.vhost.set.SetRates(&q.rate, orUnbounded(rates.Messages), orUnbounded(rates.Bytes))
}

// orUnbounded converts a policy's rate, in which 0 means no limit, to a throttle's.
func orUnbounded(rate int64) int64 {
	if rate == 0 {
		return throttle.Unbounded
	}
	return rate
}
