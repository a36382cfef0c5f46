package shard

import (
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/core/tracing"
)

// published counts a message that was accepted.
func (sh *Shard) published(q *Queue, h queue.Handle, bytes uint32, due int64) {
	q.counts.Published++
	q.counts.PublishedBytes += uint64(bytes)
	if due == 0 {
		q.probe.Arrived(h, sh.now)
	}
}

// handedOut counts a delivered message, as settled if settled is set, and ends the measurement of
// its wait.
func (sh *Shard) handedOut(q *Queue, it *queue.Item, consumer, settled bool) {
	q.counts.HandOut(it, consumer, settled)
	if sh.traces != nil && q.buffer == nil {
		sh.traces.Delivered(q.tracePlace(), it)
	}
	if ms, measured := q.probe.HandedOut(it.Handle, sh.now); measured {
		sh.set.Waited.Observe(ms, 1)
	}
}

func (q *Queue) tracePlace() tracing.Place {
	return tracing.Place{ID: q.ID, VHost: q.vhost.Name, Queue: q.Name}
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
