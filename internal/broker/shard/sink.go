package shard

import (
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// Sink is where a session's deliveries go. Its methods run on the goroutine of a shard, of a
// consumer of copies, or of any session that waits for the broker. They must not block or call back
// into the session. So a caller of a Session's method must not hold a lock that a Sink or a
// Confirmer takes.
type Sink interface {
	// Deliver takes deliveries in order. ds is reused after it returns; the envelopes stay valid.
	Deliver(ds []Delivery)
	// Cancelled is called when the broker ends the consumer: its queue is gone, or it has all the
	// copies it asked for.
	Cancelled(c *Consumer)
}

// Output is a Sink with a socket, to which the caller may write for it: that saves the switch to a
// goroutine of its own.
type Output interface {
	Sink
	// Gather is Deliver for a caller that calls Send soon.
	Gather(ds []Delivery)
	// Send writes what has gathered as far as the socket takes it at once. The rest is left to the
	// sink's own goroutine.
	Send()
}

// Delivery is a message that was handed to a consumer, or with a nil Consumer to a session that
// asked for it.
type Delivery struct {
	Consumer    *Consumer
	Queue       *Queue
	Handle      queue.Handle
	Env         message.Envelope
	Redelivered bool
	Count       uint32 // how often it was returned before
}
