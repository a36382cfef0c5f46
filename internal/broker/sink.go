package broker

import (
	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
)

// Sink is where a session's deliveries go. Its methods run on the goroutine of
// a shard, of a consumer of copies, or of any session that waits for the broker,
// and must not block or call back into the session. So who calls a method of a
// Session holds no lock that a Sink or a Confirmer takes.
type Sink interface {
	// Deliver takes deliveries in order. ds is reused after it returns; the
	// envelopes stay valid.
	Deliver(ds []Delivery)
	// Cancelled tells that the broker ended the consumer: its queue is gone, or
	// it has all the copies it asked for.
	Cancelled(c *Consumer)
}

// Delivery is a message handed to a consumer (or, with a nil Consumer, to Get).
type Delivery struct {
	Consumer    *Consumer
	Queue       *Queue
	Handle      queue.Handle
	Env         message.Envelope
	Redelivered bool
	Count       uint32 // how often it was returned before
}

// Confirmer learns what became of publishes: every number in from..to is
// confirmed (ok) or refused. It is called from any goroutine and must not block.
type Confirmer interface {
	Confirmed(from, to uint64, ok bool)
}
