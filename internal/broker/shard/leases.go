package shard

import (
	"math/rand/v2"

	"fiveways.dev/fiveways/internal/core/deadletter"
	"fiveways.dev/fiveways/internal/core/job"
	"fiveways.dev/fiveways/internal/core/queue"
)

// A leased message returns to its queue when the lease ends. The leases are in the ledger of the
// queue, which is in the log; the commands are in package jobs.

// OpenLedger returns the ledger of the queue, and creates it if there is none.
func (at Context) OpenLedger() *job.Ledger {
	if at.q.content.Jobs == nil {
		at.sh.facts.OpenLedger(at.q.content)
		skipNumbers(at.q.content.Jobs)
	}
	return at.q.content.Jobs
}

// skipNumbers skips some lease numbers, so that new leases never reuse the number of a lease that a
// crash has lost, or of a deleted queue of the same name. A late report about such a lease must not
// end another one.
func skipNumbers(ledger *job.Ledger) {
	ledger.Skip(minSkip + rand.Uint64N(maxSkip)) // #nosec G404 -- keeps numbers apart; no secret
}

const (
	minSkip = 1 << 32
	maxSkip = 1 << 40 // leaves room for millions of starts
)

// endLeases returns the messages whose leases have expired.
func (sh *Shard) endLeases(q *Queue) {
	ledger := q.content.Jobs
	for l := ledger.Over(sh.now); l != nil; l = ledger.Over(sh.now) {
		h := l.Handle
		q.used(sh.now)
		sh.requeue(&Op{Kind: OpReturn, Queue: q, Handle: h, N: 1})
		ledger.Finish(h) // also if it could not be returned: otherwise it would be retried
		sh.doLocal()
	}
}

// catchUp brings a queue up to the present time.
func (sh *Shard) catchUp(q *Queue) {
	q.used(sh.now)
	if q.content.Jobs != nil {
		sh.endLeases(q)
	}
	q.state.Due(sh.now)
}

// recoverLeases restores the leases that are in the log.
func (sh *Shard) recoverLeases() {
	for _, q := range sh.queues {
		ledger := q.content.Jobs
		if ledger == nil {
			continue
		}
		skipNumbers(ledger)
		var gone []queue.Handle
		ledger.EachLease(func(l *job.Lease) {
			if !q.state.Hold(l.Handle) {
				gone = append(gone, l.Handle)
				return
			}
			sh.holdGroup(q, l.Handle)
		})
		for _, h := range gone {
			sh.facts.Settle(q.content, h, 1) // ends the lease
		}
		sh.mark(q)
	}
}

// holdGroup reserves the message group for the lease.
func (sh *Shard) holdGroup(q *Queue, h queue.Handle) {
	if q.selective == nil {
		return
	}
	it, _ := q.state.Get(h)
	env, err := Context{sh, q}.Load(it)
	if err != nil {
		return // its delivery will report that
	}
	q.selective.Hold(h, env)
}

// recordDead records that an unacked message is dead.
func (sh *Shard) recordDead(q *Queue, h queue.Handle) {
	if q.Policy().Insists() {
		sh.holdDead(q, &deadletter.Waiting{Handle: h, Reason: deadletter.Rejected})
		return
	}
	sh.putBack(q, h, 1, deadletter.Rejected.Due())
	q.state.Hold(h)
}
