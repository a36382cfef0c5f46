package queue

// Counts counts the messages of one queue or several since the broker was started or the queue was
// declared.
//
// The counters are plain numbers, which cost almost nothing per message. Only one goroutine at a
// time may use them.
type Counts struct {
	Published      uint64 // accepted, from any source
	PublishedBytes uint64 // of their bodies
	Direct         uint64 // part of Published: published directly to the queue, not through an exchange

	Delivered      uint64 // to consumers with acknowledgements
	DeliveredNoAck uint64 // to consumers without acknowledgements
	Got            uint64 // delivered without a consumer, to be acknowledged
	GotNoAck       uint64 // delivered without a consumer, and settled at once
	GotNone        uint64 // gets that found no message
	Redelivered    uint64 // deliveries that were not the first
	HandedOutBytes uint64 // bytes of the delivered bodies

	Acked    uint64
	Returned uint64 // ready again after a delivery

	Expired      uint64 // dead: expired
	Rejected     uint64 // dead: rejected by a consumer
	PushedOut    uint64 // dead: the queue was too long
	TooOften     uint64 // dead: returned too often
	DeadLettered uint64 // of these four and of Refused: routed to a queue by a dead-letter exchange

	Refused    uint64 // not accepted: the queue was full
	Duplicates uint64 // not accepted: duplicates
}

// HandedOut returns the number of delivered messages.
func (c *Counts) HandedOut() uint64 { return c.Delivered + c.DeliveredNoAck + c.Got + c.GotNoAck }

// HandOut counts a delivered message: to a consumer or without one, and settled at once or not.
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

// Add adds the counts of o.
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
