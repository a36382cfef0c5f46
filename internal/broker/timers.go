package broker

import (
	"container/heap"
	"math"

	"fiveways/internal/core/queue"
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

// setTimer sets when the queue is next looked at.
func (sh *shard) setTimer(q *Queue) {
	at := q.state.NextEvent()
	if q.Policy.Expires > 0 && len(q.consumers.list) == 0 {
		at = min(at, q.lastUsed+q.Policy.Expires)
	}
	sh.timers.set(q, at)
}

// fireTimers does what has come due.
func (sh *shard) fireTimers() {
	for sh.timers.next() <= sh.now {
		q := sh.timers.heap[0]
		sh.timers.set(q, math.MaxInt64)
		q.state.Expire(sh.now, func(it *queue.Item) { sh.bury(q, it, reasonExpired) })
		q.state.Due(sh.now)
		if q.Policy.Expires > 0 && len(q.consumers.list) == 0 && q.lastUsed+q.Policy.Expires <= sh.now {
			q.lastUsed = sh.now // asked once; a failure is asked again later
			go sh.b.deleteQueue(q)
			continue
		}
		sh.mark(q)
	}
}
