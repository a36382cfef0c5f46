package broker

import (
	"fiveways/internal/core/deadletter"
	"fiveways/internal/core/queue"
)

// Counts are what has happened to the messages of a queue, or of several, since
// the broker was started or the queue was declared.
//
// The counts of a queue belong to its shard: they are plain numbers that cost
// the path of a message next to nothing. Who wants them takes a trip there.
type Counts struct {
	Published      uint64 // came in, from wherever
	PublishedBytes uint64 // of their bodies
	Direct         uint64 // of Published: put there by the queue's name, past exchanges

	Delivered      uint64 // to consumers that acknowledge
	DeliveredNoAck uint64 // to those that do not
	Got            uint64 // handed out without a consumer, to be acknowledged
	GotNoAck       uint64 // handed out without a consumer and gone with that
	GotNone        uint64 // gets that found no message
	Redelivered    uint64 // of what was handed out: not for the first time
	HandedOutBytes uint64 // of the bodies of what was handed out

	Acked    uint64
	Returned uint64 // came back to be delivered again

	Expired      uint64 // died: their time was over
	Rejected     uint64 // died: a consumer refused them
	PushedOut    uint64 // died: the queue was too long
	TooOften     uint64 // died: they came back too often
	DeadLettered uint64 // of those that died, and of Refused: sent to queues by a dead-letter exchange

	Refused    uint64 // did not get in: the queue was full
	Duplicates uint64 // did not get in: their key was remembered
}

// HandedOut is how many messages were given to somebody.
func (c *Counts) HandedOut() uint64 { return c.Delivered + c.DeliveredNoAck + c.Got + c.GotNoAck }

// Add adds the counts of other messages.
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

// published counts a message that has come in.
func (sh *shard) published(q *Queue, h queue.Handle, bytes uint32, due int64) {
	q.counts.Published++
	q.counts.PublishedBytes += uint64(bytes)
	if q.probe.handle == 0 && due == 0 {
		q.probe = timed{h, sh.now}
	}
}

// delivered counts a message that goes to a consumer.
func (sh *shard) delivered(q *Queue, it *queue.Item, noAck bool) {
	if noAck {
		q.counts.DeliveredNoAck++
	} else {
		q.counts.Delivered++
	}
	sh.handedOut(q, it)
}

// got counts a message that is handed out without a consumer. noAck: it is gone with that.
func (sh *shard) got(q *Queue, it *queue.Item, noAck bool) {
	if noAck {
		q.counts.GotNoAck++
	} else {
		q.counts.Got++
	}
	sh.handedOut(q, it)
}

func (sh *shard) handedOut(q *Queue, it *queue.Item) {
	q.counts.HandedOutBytes += uint64(it.Size)
	if it.Flags&queue.Redelivered != 0 {
		q.counts.Redelivered++
	}
	if sh.b.opts.Traces != nil {
		sh.traceOut(q, it)
	}
	if it.Handle == q.probe.handle {
		sh.b.waited.Observe(uint64(max(sh.now-q.probe.at, 0)), 1)
		q.probe = timed{}
	}
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

// timed is one message of a queue that is timed from when it came in to when it is handed out
// first; the next one follows when it was. A message that ends otherwise is found by freeProbe.
type timed struct {
	handle queue.Handle // 0: none is timed
	at     int64        // unix ms
}

// freeProbe gives up a message that nobody will be given.
func (q *Queue) freeProbe() {
	if q.probe.handle != 0 && q.state.Status(q.probe.handle) == queue.Gone {
		q.probe = timed{}
	}
}

// retire keeps the counts of a queue that goes: sums do not fall.
func (sh *shard) retire(q *Queue) {
	if q.relay == nil {
		sh.b.counters.queuesDeleted.Add(1)
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
