package broker

import (
	"container/heap"
	"math"
)

// timers orders the queues of a shard by when they next need attention: a
// message expires or becomes due, or the queue itself expires. One place per
// queue; core/queue keeps the order of its messages.
type timers struct{ heap []*Queue }

func (t *timers) Len() int           { return len(t.heap) }
func (t *timers) Less(i, j int) bool { return t.heap[i].wakeAt < t.heap[j].wakeAt }
func (t *timers) Swap(i, j int) {
	t.heap[i], t.heap[j] = t.heap[j], t.heap[i]
	t.heap[i].timer, t.heap[j].timer = i+1, j+1
}
func (t *timers) Push(x any) {
	q := x.(*Queue)
	t.heap = append(t.heap, q)
	q.timer = len(t.heap)
}
func (t *timers) Pop() any {
	n := len(t.heap) - 1
	q := t.heap[n]
	t.heap[n] = nil
	t.heap = t.heap[:n]
	q.timer = 0
	return q
}

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
	case q.timer == 0 && at == math.MaxInt64:
	case q.timer == 0:
		q.wakeAt = at
		heap.Push(t, q)
	case at == math.MaxInt64:
		heap.Remove(t, q.timer-1)
	case q.wakeAt != at:
		q.wakeAt = at
		heap.Fix(t, q.timer-1)
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
		at = min(at, q.dead.at)
	}
	if q.jobs != nil {
		at = min(at, q.jobs.book.NextEnd())
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

// inUse tells whether somebody consumes from the queue, waits at it or has leased a job.
func (q *Queue) inUse() bool {
	return len(q.consumers.list) > 0 || q.waiting.first != nil || q.jobs != nil && q.jobs.book.Leases() > 0
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
		if q.jobs != nil {
			sh.endLeases(q)
		}
		if q.shrinking {
			sh.shrink(q)
		}
		sh.limitLength(q)
		if q.dead != nil && q.dead.at <= sh.now {
			sh.retryDead(q)
		}
		if at, ok := q.expiry(); ok && at <= sh.now {
			q.expiring = true
			go sh.b.expireQueue(q)
		}
		sh.mark(q)
	}
}

// expire buries the messages of the queue whose time is over.
func (sh *shard) expire(q *Queue) {
	for sh.deadBytes < maxDeadBytes && !sh.b.resting.Load() {
		sh.expired = q.state.LendExpired(sh.now, expireStep, sh.expired[:0])
		for _, h := range sh.expired {
			sh.bury(q, h, reasonExpired)
			sh.doLocal()
			if len(sh.entry.data) >= entryBytes {
				sh.propose() // that they are dead may be recorded without a publish
			}
		}
		if len(sh.expired) < expireStep {
			return
		}
	}
}
