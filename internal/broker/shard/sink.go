package shard

import (
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// Sink receives a session's deliveries. Its methods run on the goroutine of a shard, of a consumer
// of copies, or of any session that waits for the broker. They must not block or call the session.
// So a caller of a Session's method must not hold a lock that a Sink or a Confirmer takes.
type Sink interface {
	// Deliver takes deliveries in order. ds is reused after it returns; the envelopes stay valid.
	Deliver(ds []Delivery)
	// Cancelled is called when the broker ends the consumer: its queue is gone, or a consumer of
	// copies has received all of them.
	Cancelled(c *Consumer)
}

// Output is a Sink whose socket the caller may write to, which saves a goroutine switch.
type Output interface {
	Sink
	// Gather is Deliver for a caller that calls Send soon.
	Gather(ds []Delivery)
	// Send writes as many of the gathered deliveries as the socket accepts at once. The sink's own
	// goroutine writes the rest.
	Send()
}

// Delivery is a message for a consumer, or, if Consumer is nil, for a session that requested it.
type Delivery struct {
	Consumer    *Consumer
	Queue       *Queue
	Handle      queue.Handle
	Env         message.Envelope
	Redelivered bool
	Count       uint32 // how often it was returned before
}
