package broker

import (
	"errors"
	"iter"
	"slices"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/routing"
)

// Finder is the view of a session through which higher packages find queues. Only the session's
// goroutine, which calls Find, may use it. Any goroutine may call Broker, Table, Lookup, Queues and
// QueuesFrom.
type Finder struct{ s *Session }

// Finder returns this view of the session.
func (s *Session) Finder() Finder { return Finder{s} }

// The actions on a queue that permissions distinguish.
const (
	Configuring = catalog.Configure
	Reading     = catalog.Read
	Writing     = catalog.Write
)

// May checks whether the user has permission for an action (Configuring, Reading or Writing) on a
// queue, which need not exist. Errors: ErrAccessRefused.
func (f Finder) May(action, queue string) error { return f.s.May(action, "queue", queue) }

// Queue finds a queue on which the session may perform an action. With create, a missing queue is
// declared, durable and without other properties, and removed when it is idle. Errors:
// ErrAccessRefused, ErrQueueNotFound, ErrExclusive; with create also those of Session.To.
func (f Finder) Queue(action, name string, create bool) (*shard.Queue, error) {
	if err := f.May(action, name); err != nil {
		return nil, err
	}
	return f.s.findOrMake(name, create)
}

// ToPublish is Queue for a command that publishes to the queue: the command waits while the log or
// memory is behind.
func (f Finder) ToPublish(name string, create bool) (*shard.Queue, error) {
	return f.s.writable(name, create)
}

// Publishes makes the command wait while the log or memory is behind, as ToPublish does.
func (f Finder) Publishes() { f.s.batch.Publishes = true }

// Find finds the queue of another command that is part of the current one. The other command's
// OnQueue gets the outcome, too.
func (f Finder) Find(c Command) error { return f.s.find(c) }

// At runs fn at the shard of a queue, which may be deleted, and returns once fn has returned. The
// caller must hold no lock. Errors: ErrClosed.
func (f Finder) At(q *shard.Queue, fn func(shard.Context)) error {
	return f.s.at(q.Home(), func() { fn(shard.ContextOf(q)) })
}

// Stopped returns a channel that is closed when the queue's shard has stopped. Nothing happens to
// the queue after that.
func (f Finder) Stopped(q *shard.Queue) <-chan struct{} { return q.Home().Done }

// Broker returns the session's broker.
func (f Finder) Broker() *Broker { return f.s.b }

// Table returns the virtual host's current routing table.
func (f Finder) Table() *routing.Table { return f.s.vhost.Table() }

// Lookup finds a queue without checking permissions.
func (f Finder) Lookup(name string) (q *shard.Queue, ok bool) { return f.s.vhost.Queue(name) }

// Buffer returns the queue that holds the messages of an exchange, or nil.
func (f Finder) Buffer(x *routing.Exchange) *shard.Queue { return f.s.b.set.BufferQueue(x) }

// Queues yields the queues of the virtual host.
func (f Finder) Queues() iter.Seq[*shard.Queue] { return f.s.vhost.Queues() }

// QueuesFrom returns at most n queues of the virtual host in the order of their IDs, starting at an
// ID, and the ID to continue from; 0 at the end.
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

// IfGone converts ErrQueueNotFound to ErrFindAgain, for a queue that was found before and has been
// deleted since.
func IfGone(err error) error {
	if errors.Is(err, failure.ErrQueueNotFound) {
		return ErrFindAgain
	}
	return err
}
