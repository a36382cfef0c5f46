package shard

import (
	"math"

	"fiveways.dev/fiveways/internal/core/deadletter"
	"fiveways.dev/fiveways/internal/core/heap"
)

// timers orders the queues of a shard by the time of their next event: a message expires or becomes
// due, a lease ends, or the queue itself expires. A queue occurs once; core/queue orders its
// messages.
type timers struct{ heap heap.Heap[*Queue, byWake] }

type byWake struct{}

func (byWake) Before(a, b *Queue) bool   { return a.wakeAt < b.wakeAt }
func (byWake) Moved(q *Queue, place int) { q.timer = place }

// next returns the time of the first event, or noTime.
func (t *timers) next() int64 {
	if len(t.heap) == 0 {
		return noTime
	}
	return t.heap[0].wakeAt
}

// set sets the time of a queue. noTime removes it.
func (t *timers) set(q *Queue, at int64) {
	switch {
	case at == noTime:
		t.heap.Remove(q.timer)
	case q.timer == 0 || q.wakeAt != at:
		q.wakeAt = at
		t.heap.Fix(q, q.timer)
	}
}

// Dead letters are created expireStep at a time, and at most MaxDeadBytes of them may be in transit
// to other shards.
const (
	expireStep   = 64
	MaxDeadBytes = 16 << 20
	DeadRetry    = 5 // ms until a queue that had to stop is visited again
)

// setTimer sets the time of the queue's next event: soon if more remains to be tidied.
func (sh *Shard) setTimer(q *Queue, more bool) {
	at := q.state.NextEvent()
	if q.dead != nil {
		at = min(at, q.dead.At())
	}
	if ledger := q.content.Jobs; ledger != nil {
		at = min(at, ledger.NextEnd())
	}
	if q.Declared.Stream {
		at = min(at, q.content.Stream.NextPast(q.Policy().MaxAge))
	}
	if q.shrinking || q.packing.More() || more {
		at = sh.now
	}
	if at <= sh.now { // it stopped early, for example because too many dead letters are in transit
		at = sh.now + DeadRetry
	}
	if at2, ok := q.expiry(); ok {
		at = min(at, at2)
	}
	sh.timers.set(q, at)
}

// expiry returns when the queue is to be deleted because it is unused.
func (q *Queue) expiry() (at int64, ok bool) {
	if q.Policy().Expires <= 0 || q.inUse() || q.expiring {
		return 0, false
	}
	return q.lastUsed + q.Policy().Expires, true
}

// inUse reports whether the queue has a consumer, a waiting command or a lease.
func (q *Queue) inUse() bool {
	return q.consumers.Len() > 0 || q.waiting.First() != nil || q.content.Jobs != nil && q.content.Jobs.Leases() > 0
}

// fireTimers handles the events that are due.
func (sh *Shard) fireTimers() {
	for sh.timers.next() <= sh.now {
		q := sh.timers.heap[0]
		sh.timers.set(q, noTime)
		sh.visit(q)
		sh.expire(q)
		if q.buffer == nil && q.state.NextEvent() <= sh.now { // a due message leaves an exchange buffer without becoming ready first
			q.state.Due(sh.now)
			sh.mark(q)
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
			sh.set.Definer.Expire(q)
		}
	}
}

// expire dead-letters the messages of the queue that have expired.
func (sh *Shard) expire(q *Queue) {
	for sh.deadBytes < MaxDeadBytes && !sh.set.Resting.Load() {
		sh.expired = q.state.LendExpired(sh.now, expireStep, sh.expired[:0])
		q.changes += uint64(len(sh.expired))
		for _, h := range sh.expired {
			sh.deadLetter(q, h, deadletter.Expired)
			sh.doLocal()
			if sh.log.Full() {
				sh.log.Propose() // their end may be recorded without a publish
			}
		}
		if len(sh.expired) < expireStep {
			return
		}
	}
}

// noTime is later than any time, in unix ms.
const noTime = math.MaxInt64
