package shard

import (
	"fiveways/internal/core/deadletter"
	"fiveways/internal/core/queue"
	"fiveways/internal/core/tracing"
)

// Counts are counters of the messages of one queue or several, since the broker was started or the
// queue was declared.
//
// The counts of a queue belong to its shard: plain numbers, which cost the path of a message next
// to nothing and are read on the shard's goroutine.
type Counts struct {
	Published      uint64 // taken in, from any source
	PublishedBytes uint64 // of their bodies
	Direct         uint64 // of Published: by clients that named the queue, past exchanges

	Delivered      uint64 // to consumers with acknowledgements
	DeliveredNoAck uint64 // to consumers without
	Got            uint64 // handed out without a consumer, to be acknowledged
	GotNoAck       uint64 // handed out without a consumer, and settled with that
	GotNone        uint64 // gets that found no message
	Redelivered    uint64 // of those handed out: not for the first time
	HandedOutBytes uint64 // bytes of the bodies that were handed out

	Acked    uint64
	Returned uint64 // ready again after a delivery

	Expired      uint64 // died: their time was over
	Rejected     uint64 // died: a consumer refused them
	PushedOut    uint64 // died: the queue was too long
	TooOften     uint64 // died: they were returned too often
	DeadLettered uint64 // of these four and of Refused: sent to queues by a dead-letter exchange

	Refused    uint64 // not taken in: the queue was full
	Duplicates uint64 // not taken in: their key was known
}

// HandedOut is the number of messages that were handed out.
func (c *Counts) HandedOut() uint64 { return c.Delivered + c.DeliveredNoAck + c.Got + c.GotNoAck }

// Add adds other counts.
func (c *Counts) Add(o *Counts) {
	c.Published += o.Published
	c.PublishedBytes += o.PublishedBytes
	c.Direct += o.Direct
	c.Delivered += o.Delivered
	c.DeliveredNoAck += o.DeliveredNoAck
	c.Got += o.Got
	c.GotNoAck += o.GotNoAck
	c.GotNone += o.GotNone
	c.Redelivered += o.Redelivered
	c.HandedOutBytes += o.HandedOutBytes
	c.Acked += o.Acked
	c.Returned += o.Returned
	c.Expired += o.Expired
	c.Rejected += o.Rejected
	c.PushedOut += o.PushedOut
	c.TooOften += o.TooOften
	c.DeadLettered += o.DeadLettered
	c.Refused += o.Refused
	c.Duplicates += o.Duplicates
}

// published counts a message that was taken in.
func (sh *Shard) published(q *Queue, h queue.Handle, bytes uint32, due int64) {
	q.counts.Published++
	q.counts.PublishedBytes += uint64(bytes)
	if q.probe.handle == 0 && due == 0 {
		q.probe = timed{h, sh.now}
	}
}

// delivered counts a message that is delivered to a consumer.
func (sh *Shard) delivered(q *Queue, it *queue.Item, noAck bool) {
	if noAck {
		q.counts.DeliveredNoAck++
	} else {
		q.counts.Delivered++
	}
	sh.handedOut(q, it)
}

// got counts a message that is handed out without a consumer. noAck: it is settled with that.
func (sh *Shard) got(q *Queue, it *queue.Item, noAck bool) {
	if noAck {
		q.counts.GotNoAck++
	} else {
		q.counts.Got++
	}
	sh.handedOut(q, it)
}

func (sh *Shard) handedOut(q *Queue, it *queue.Item) {
	q.counts.HandedOutBytes += uint64(it.Size)
	if it.Flags&queue.Redelivered != 0 {
		q.counts.Redelivered++
	}
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

// died counts a message that died.
func (q *Queue) died(reason deadletter.Reason) {
	switch reason {
	case deadletter.Expired:
		q.counts.Expired++
	case deadletter.Rejected:
		q.counts.Rejected++
	case deadletter.MaxLength:
		q.counts.PushedOut++
	case deadletter.DeliveryLimit:
		q.counts.TooOften++
	}
}

// timed is the one message of a queue whose wait is measured, from its arrival to its first
// delivery. The next message to arrive after that is measured next.
type timed struct {
	handle queue.Handle // 0: none
	at     int64        // unix ms of its arrival
}

// freeProbe ends the measurement of a message that has gone without a delivery.
func (q *Queue) freeProbe() {
	if q.probe.handle != 0 && q.state.Status(q.probe.handle) == queue.Gone {
		q.probe = timed{}
	}
}

// retire adds the counts of a queue that is deleted to those of its virtual host, whose sums never
// decrease.
func (sh *Shard) retire(q *Queue) {
	if q.buffer == nil {
		sh.set.Counters.QueuesDeleted.Add(1)
	}
	if sh.retired == nil {
		sh.retired = map[*VHost]*Counts{}
	}
	sum := sh.retired[q.vhost]
	if sum == nil {
		sum = &Counts{}
		sh.retired[q.vhost] = sum
	}
	sum.Add(&q.counts)
}
