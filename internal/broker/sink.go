package broker

import (
	"sync/atomic"

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

// windowBytes is how much a connection may have encoded but not yet written
// before the engine stops delivering to it.
const windowBytes = 1 << 20

// Window is the flow of deliveries to one connection: the sink adds what it
// encoded, the connection's writer takes off what it wrote.
type Window struct {
	used    atomic.Int64
	starved atomic.Bool // a shard stopped delivering and waits for Done
	wake    func()
}

// Add counts n bytes encoded for the client.
func (w *Window) Add(n int) { w.used.Add(int64(n)) }

// Done counts n bytes written, and lets the shards go on when the window is
// half empty again.
func (w *Window) Done(n int) {
	if w.used.Add(-int64(n)) <= windowBytes/2 && w.starved.Load() && w.starved.Swap(false) {
		w.wake()
	}
}

// full tells a shard to stop. Marking comes before the second look, so that a
// Done in between is not missed.
func (w *Window) full() bool {
	if w.used.Load() < windowBytes {
		return false
	}
	w.starved.Store(true) // and stays so: another shard may rely on it; a wake too many does no harm
	return w.used.Load() > windowBytes/2
}
