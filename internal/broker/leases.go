package broker

import (
	"math/rand/v2"

	"fiveways/internal/core/deadletter"
	"fiveways/internal/core/job"
	"fiveways/internal/core/queue"
)

// A message may be handed out by a lease: it comes back by itself at a time. The ledger of the
// queue, which is in the log, has the leases; package jobs has the commands.

// OpenLedger has the queue keep a ledger from now on, unless it does already.
func (at Context) OpenLedger() *job.Ledger {
	if at.q.content.Jobs == nil {
		at.sh.facts.OpenLedger(at.q.content)
		skipNumbers(at.q.content.Jobs)
	}
	return at.q.content.Jobs
}

// skipNumbers has the leases to come have numbers which those did not have that no restart
// survived, nor those of a queue of the same name that was deleted: who reports on them late must
// not end another's lease.
func skipNumbers(ledger *job.Ledger) {
	ledger.Skip(minSkip + rand.Uint64N(maxSkip)) // #nosec G404 -- keeps numbers apart; no secret
}

const (
	minSkip = 1 << 32
	maxSkip = 1 << 40 // small enough for all starts that there will be
)

// endLeases takes back what is leased and whose time is over.
func (sh *shard) endLeases(q *Queue) {
	ledger := q.content.Jobs
	for l := ledger.Over(sh.now); l != nil; l = ledger.Over(sh.now) {
		h := l.Handle
		q.used(sh.now)
		sh.requeue(&op{kind: opReturn, queue: q, handle: h, n: 1})
		ledger.Finish(h) // one that could not be taken back is not looked at again
		sh.doLocal()
	}
}

// catchUp brings a queue to the time that it is.
func (sh *shard) catchUp(q *Queue) {
	q.used(sh.now)
	if q.content.Jobs != nil {
		sh.endLeases(q)
	}
	q.state.Due(sh.now)
}

// recoverLeases restores the leases that were held before the start.
func (sh *shard) recoverLeases() {
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

// holdGroup holds the group of a message for its lease.
func (sh *shard) holdGroup(q *Queue, h queue.Handle) {
	if q.selective == nil {
		return
	}
	it, _ := q.state.Get(h)
	env, err := Context{sh, q}.Load(it)
	if err != nil {
		return // its delivery will tell
	}
	q.selective.Hold(h, env)
}

// recordDead records that a message that is out is dead.
func (sh *shard) recordDead(q *Queue, h queue.Handle) {
	if q.Policy().Insists() {
		sh.holdDead(q, &deadletter.Waiting{Handle: h, Reason: deadletter.Rejected})
		return
	}
	sh.putBack(q, h, 1, deadletter.Rejected.Due())
	q.state.Hold(h)
}
