package broker

import (
	"math"

	"fiveways/internal/core/deadletter"
	"fiveways/internal/core/heap"
)

// timers orders the queues of a shard by when they next need attention: a
// message expires or becomes due, or the queue itself expires. One place per
// queue; core/queue keeps the order of its messages.
type timers struct{ heap heap.Heap[*Queue, byWake] }

type byWake struct{}

func (byWake) Before(a, b *Queue) bool   { return a.wakeAt < b.wakeAt }
func (byWake) Moved(q *Queue, place int) { q.timer = place }

// next is the time of the first, MaxInt64 when there is none.
func (t *timers) next() int64 {
	if len(t.heap) == 0 {
		return math.MaxInt64
	}
	return t.heap[0].wakeAt
}

// set puts the queue at its time; MaxInt64 takes it out.
func (t *timers) set(q *Queue, at int64) {
	switch {
	case at == math.MaxInt64:
		t.heap.Remove(q.timer)
	case q.timer == 0 || q.wakeAt != at:
		q.wakeAt = at
		t.heap.Fix(q, q.timer)
	}
}

// Dead letters are made a few at a time, and no more than so many bytes of them
// may be on their way to other shards.
const (
	expireStep   = 64
	maxDeadBytes = 16 << 20
	deadRetry    = 5 // ms until a queue is looked at again that had to stop there
)

// setTimer sets when the queue is next looked at.
func (sh *shard) setTimer(q *Queue) {
	at := q.state.NextEvent()
	if q.dead != nil {
		at = min(at, q.dead.At())
	}
	if ledger := q.content.Jobs; ledger != nil {
		at = min(at, ledger.NextEnd())
	}
	if q.shrinking {
		at = sh.now
	}
	if at <= sh.now { // it had to stop: too many dead letters are on their way
		at = sh.now + deadRetry
	}
	if at2, ok := q.expiry(); ok {
		at = min(at, at2)
	}
	sh.timers.set(q, at)
}

// expiry is when the queue goes for lack of use.
func (q *Queue) expiry() (at int64, ok bool) {
	if q.Policy().Expires <= 0 || q.inUse() || q.expiring {
		return 0, false
	}
	return q.lastUsed + q.Policy().Expires, true
}

// inUse reports whether somebody consumes from the queue, waits at it or has leased a job.
func (q *Queue) inUse() bool {
	return q.consumers.Len() > 0 || q.waiting.first != nil || q.content.Jobs != nil && q.content.Jobs.Leases() > 0
}

// fireTimers does what has come due.
func (sh *shard) fireTimers() {
	for sh.timers.next() <= sh.now {
		q := sh.timers.heap[0]
		sh.timers.set(q, noTime)
		sh.expire(q)
		if q.relay == nil {
			q.state.Due(sh.now) // what is due in a relay leaves it without a time as a ready message
		}
		if q.content.Jobs != nil {
			sh.endLeases(q)
		}
		if q.shrinking {
			sh.shrink(q)
		}
		sh.limitLength(q)
		if q.dead != nil && q.dead.At() <= sh.now {
			sh.retryDead(q)
		}
		if at, ok := q.expiry(); ok && at <= sh.now {
			q.expiring = true
			go sh.b.expireQueue(q)
		}
		sh.mark(q)
	}
}

// expire dead-letters the messages of the queue whose time is over.
func (sh *shard) expire(q *Queue) {
	for sh.deadBytes < maxDeadBytes && !sh.b.resting.Load() {
		sh.expired = q.state.LendExpired(sh.now, expireStep, sh.expired[:0])
		for _, h := range sh.expired {
			sh.deadLetter(q, h, deadletter.Expired)
			sh.doLocal()
			if sh.facts.Len() >= entryBytes {
				sh.propose() // that they are dead may be recorded without a publish
			}
		}
		if len(sh.expired) < expireStep {
			return
		}
	}
}
