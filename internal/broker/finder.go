package broker

import "errors"

// Finder is a session as a command may use it to find its queue. It is for the goroutine of Find.
type Finder struct{ s *Session }

// What a command may do to a queue, as permissions have it.
const (
	Configuring = toConfigure
	Reading     = toRead
	Writing     = toWrite
)

// May reports whether the user may do something, Configuring, Reading or Writing, to a queue, there
// or not. Errors: ErrAccessRefused.
func (f Finder) May(action, queue string) error { return f.s.may(action, "queue", queue) }

// Queue finds a queue to which the session may do something. One that is not there is declared when
// create says so, durable and with nothing else asked of it; it goes when nobody needs it. Errors:
// ErrAccessRefused, ErrQueueNotFound, ErrExclusive; with create those of Session.To.
func (f Finder) Queue(action, name string, create bool) (*Queue, error) {
	if err := f.May(action, name); err != nil {
		return nil, err
	}
	return f.s.findOrMake(name, create)
}

// ToPublish is Queue for a command that puts messages into the queue: it is held back while the log
// or the memory is behind.
func (f Finder) ToPublish(name string, create bool) (*Queue, error) {
	return f.s.writable(name, create)
}

// Publishes has the command held back while the log or the memory is behind, as ToPublish does.
func (f Finder) Publishes() { f.s.pub = true }

// Find finds the queue of another command, which is a part of the one in hand; its outcome is in
// the OnQueue of that one, too.
func (f Finder) Find(c Command) error { return f.s.find(c) }

// At runs fn at the shard of a queue, which may be gone, and returns when that is done. The caller
// holds no lock. Errors: ErrClosed.
func (f Finder) At(q *Queue, fn func(Context)) error {
	return f.s.at(q.shard, func() { fn(Context{q.shard, q}) })
}

// Lookup finds a queue without asking for a permission.
func (f Finder) Lookup(name string) (q *Queue, ok bool) { return f.s.vhost.queue(name) }

// Stopped is closed when the shard of a queue has stopped: nothing happens to the queue any more.
func (f Finder) Stopped(q *Queue) <-chan struct{} { return q.shard.done }

// Broker is the broker of the session.
func (f Finder) Broker() *Broker { return f.s.b }

// IfGone turns ErrQueueNotFound into FindAgain: a queue that was found was deleted since.
func IfGone(err error) error {
	if errors.Is(err, ErrQueueNotFound) {
		return FindAgain
	}
	return err
}
