package shard

import (
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/core/tracing"
)

// published counts a message that was accepted.
func (sh *Shard) published(q *Queue, h queue.Handle, bytes uint32, due int64) {
	q.counts.Published++
	q.counts.PublishedBytes += uint64(bytes)
	if q.probe.handle == 0 && due == 0 {
		q.probe = timed{h, sh.now}
	}
}

// handedOut counts a delivered message, as settled if settled is set, and ends the measurement of
// its wait.
func (sh *Shard) handedOut(q *Queue, it *queue.Item, consumer, settled bool) {
	q.counts.HandOut(it, consumer, settled)
	if sh.traces != nil && q.buffer == nil {
		sh.traces.Delivered(q.tracePlace(), it)
	}
	if it.Handle == q.probe.handle {
		sh.set.Waited.Observe(uint64(max(sh.now-q.probe.at, 0)), 1)
		q.probe = timed{}
	}
}

func (q *Queue) tracePlace() tracing.Place {
	return tracing.Place{ID: q.ID, VHost: q.vhost.Name, Queue: q.Name}
}

// timed is the one message of a queue whose wait is being measured, from its arrival to its first
// delivery. The next message to arrive afterwards is measured next.
type timed struct {
	handle queue.Handle // 0: none
	at     int64        // unix ms of its arrival
}

// freeProbe ends the measurement if its message is gone without a delivery.
func (q *Queue) freeProbe() {
	if q.probe.handle != 0 && q.state.Status(q.probe.handle) == queue.Gone {
		q.probe = timed{}
	}
}

// retire adds the counts of a deleted queue to its virtual host, whose sums never decrease.
func (sh *Shard) retire(q *Queue) {
	if q.buffer == nil {
		sh.set.Counters.QueuesDeleted.Add(1)
	}
	if sh.retired == nil {
		sh.retired = map[*VHost]*queue.Counts{}
	}
	sum := sh.retired[q.vhost]
	if sum == nil {
		sum = &queue.Counts{}
		sh.retired[q.vhost] = sum
	}
	sum.Add(&q.counts)
}
