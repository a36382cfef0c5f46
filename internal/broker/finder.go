package broker

import (
	"errors"
	"iter"
	"slices"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/routing"
)

// Finder is a session as packages above this one use it to find queues. It is for the session's
// goroutine, that of Find; Broker, Table, Lookup, Queues and QueuesFrom any goroutine may call.
type Finder struct{ s *Session }

// Finder is the session for packages above this one.
func (s *Session) Finder() Finder { return Finder{s} }

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
// create says so, durable and without other properties; it is removed when it is idle. Errors:
// ErrAccessRefused, ErrQueueNotFound, ErrExclusive; with create those of Session.To.
func (f Finder) Queue(action, name string, create bool) (*shard.Queue, error) {
	if err := f.May(action, name); err != nil {
		return nil, err
	}
	return f.s.findOrMake(name, create)
}

// ToPublish is Queue for a command that puts messages into the queue: it is held back while the log
// or the memory is behind.
func (f Finder) ToPublish(name string, create bool) (*shard.Queue, error) {
	return f.s.writable(name, create)
}

// Publishes has the command held back while the log or the memory is behind, as ToPublish does.
func (f Finder) Publishes() { f.s.batch.Publishes = true }

// Find finds the queue of another command, which is a part of the current one; its outcome is in
// the OnQueue of that one, too.
func (f Finder) Find(c Command) error { return f.s.find(c) }

// At runs fn at the shard of a queue, which may be gone, and returns when that is done. The caller
// holds no lock. Errors: ErrClosed.
func (f Finder) At(q *shard.Queue, fn func(shard.Context)) error {
	return f.s.at(q.Home(), func() { fn(shard.ContextOf(q)) })
}

// Stopped is closed when the shard of a queue has stopped: nothing happens to the queue any more.
func (f Finder) Stopped(q *shard.Queue) <-chan struct{} { return q.Home().Done }

// Broker is the broker of the session.
func (f Finder) Broker() *Broker { return f.s.b }

// Table is what there is in the virtual host now.
func (f Finder) Table() *routing.Table { return f.s.vhost.Table() }

// Lookup finds a queue without asking for a permission.
func (f Finder) Lookup(name string) (q *shard.Queue, ok bool) { return f.s.vhost.Queue(name) }

// Buffer is the queue that holds the messages of an exchange, nil when it holds none.
func (f Finder) Buffer(x *routing.Exchange) *shard.Queue { return f.s.b.set.BufferQueue(x) }

// Queues yields the queues of the virtual host.
func (f Finder) Queues() iter.Seq[*shard.Queue] { return f.s.vhost.Queues() }

// QueuesFrom returns at most n queues of the virtual host by their IDs, from an ID on, and the one
// to go on from, 0 at the end.
func (f Finder) QueuesFrom(id uint64, n int) (queues []*shard.Queue, next uint64) {
	ids := f.s.vhost.QueueIDs()
	at, _ := slices.BinarySearch(ids, id)
	ids = ids[at:]
	if n < len(ids) {
		next = ids[n]
		ids = ids[:n]
	}
	for _, id := range ids {
		if q, ok := f.s.b.set.QueueByID(id); ok {
			queues = append(queues, q)
		}
	}
	return queues, next
}

// IfGone turns ErrQueueNotFound into ErrFindAgain: a queue that was found was deleted since.
func IfGone(err error) error {
	if errors.Is(err, ErrQueueNotFound) {
		return ErrFindAgain
	}
	return err
}
