package queue

// Counts are counters of the messages of one queue or several, since the broker was started or the
// queue was declared.
//
// They are plain numbers, which cost the path of a message next to nothing: one goroutine at a time
// uses them.
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

// HandOut counts a message that is handed out, for good with settled: to a consumer, or without
// one.
func (c *Counts) HandOut(it *Item, consumer, settled bool) {
	switch {
	case consumer && settled:
		c.DeliveredNoAck++
	case consumer:
		c.Delivered++
	case settled:
		c.GotNoAck++
	default:
		c.Got++
	}
	c.HandedOutBytes += uint64(it.Size)
	if it.Flags&Redelivered != 0 {
		c.Redelivered++
	}
}

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
