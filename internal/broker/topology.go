package broker

import (
	"cmp"
	"errors"
	"slices"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
)

// DeclareQueue creates a queue, or checks that the existing one is equivalent, and returns once it
// exists durably. Errors: ErrAccessRefused, ErrQueueNotFound (passive), ErrExclusive,
// ErrInequivalent, ErrQueueLimit, ErrLogFailed.
func (s *Session) DeclareQueue(spec catalog.QueueSpec) (shard.QueueInfo, error) {
	s.Flush()
	s.b.queuesDeclared.Add(1)
	if !spec.Passive {
		if err := s.May(Configuring, "queue", spec.Name); err != nil {
			return shard.QueueInfo{}, err
		}
	}
	q, ok := s.vhost.Queue(spec.Name)
	if !ok && spec.Passive {
		return shard.QueueInfo{}, cmp.Or(s.AwaitRemovals(), s.NoQueue(spec.Name))
	}
	if !ok {
		err := s.change(func(e *catalog.Edit) error {
			if q, ok = s.vhost.Queue(spec.Name); ok { // declared meanwhile
				return nil
			}
			return e.DeclareQueue(&spec)
		})
		if err != nil || !ok {
			return shard.QueueInfo{Name: spec.Name}, err
		}
	}
	return s.redeclare(q, &spec)
}

// redeclare answers the declaration of an existing queue.
func (s *Session) redeclare(q *shard.Queue, spec *catalog.QueueSpec) (shard.QueueInfo, error) {
	if spec.Passive && q.Owner != nil && q.Owner != s {
		return shard.QueueInfo{}, s.Fail(failure.ErrExclusive, "queue", spec.Name)
	}
	if !spec.Passive {
		if err := s.Compare(&q.Queue, spec); err != nil {
			return shard.QueueInfo{}, err
		}
	}
	if !spec.Passive && !spec.Implicit && q.Implicit() {
		if !s.b.makeExplicit(q) { // it has just been removed
			return s.DeclareQueue(*spec)
		}
	}
	durable := max(q.Created, q.ExplicitAt.Load())
	info, err := q.Redeclared()
	if err != nil {
		return info, err
	}
	return info, s.b.journal.Await(durable)
}

// DeleteQueue deletes a queue and returns once that is durable, with the number of ready messages
// that the queue held. A missing queue is no error. Errors: ErrAccessRefused, ErrExclusive,
// ErrInUse, ErrNotEmpty.
func (s *Session) DeleteQueue(name string, ifUnused, ifEmpty bool) (messages int, err error) {
	s.Flush()
	if err := s.May(Configuring, "queue", name); err != nil {
		return 0, err
	}
	q, err := s.usableQueue(name)
	if errors.Is(err, failure.ErrQueueNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return s.b.deleteQueueIf(q, shard.DropWhen{Unused: ifUnused, Empty: ifEmpty})
}

// deleteQueue deletes a queue without a client's request.
func (b *Broker) deleteQueue(q *shard.Queue) { b.endQueue(q, shard.DropWhen{Unused: q.Owner == nil}) }

// expireQueue deletes a queue that has been unused for its expiry time.
func (b *Broker) expireQueue(q *shard.Queue) { b.endQueue(q, shard.DropWhen{Expired: true}) }

func (b *Broker) endQueue(q *shard.Queue, when shard.DropWhen) {
	if _, err := b.deleteQueueIf(q, when); err != nil && !errors.Is(err, failure.ErrClosed) && !errors.Is(err, failure.ErrInUse) {
		b.log.Warn("a queue could not be deleted", "vhost", q.VHost(), "queue", q.Name, "err", err)
	}
}

func (b *Broker) deleteQueueIf(q *shard.Queue, when shard.DropWhen) (messages int, err error) {
	b.journal.Lock()
	messages, release, err := q.Drop(when)
	if err != nil {
		b.journal.Unlock()
		return 0, err
	}
	index := b.journal.Last() // one fact has deleted the virtual host with all its queues; otherwise:
	e := q.In.Edit(nil)
	if !q.In.Gone() {
		e.EndQueue(&q.Queue)
		index = b.commitEdit(e)
	} else if s := ownerOf(q); s != nil {
		s.disown(q)
	}
	b.journal.Unlock()
	if err := b.journal.Await(index); err != nil {
		return messages, err
	}
	release() // only once the deletion is durable: after a crash the queue might still need them
	return messages, b.dropAll(slices.DeleteFunc(e.Ended, func(def *catalog.Queue) bool { return def == &q.Queue }))
}

// PurgeQueue removes the ready messages and returns their number once that is durable. Errors:
// ErrAccessRefused, ErrQueueNotFound, ErrExclusive, ErrLogFailed.
func (s *Session) PurgeQueue(name string) (messages int, err error) {
	s.Flush()
	if err := s.May(Reading, "queue", name); err != nil {
		return 0, err
	}
	q, err := s.usableQueue(name)
	if err != nil {
		return 0, err
	}
	messages, err = q.Purge()
	if messages == 0 && err == nil {
		err = s.b.journal.AwaitLast() // another session may be deleting the queue
	}
	return messages, err
}

// DeclareExchange creates an exchange, or checks that the existing one is equivalent. Errors:
// ErrAccessRefused, ErrExchangeNotFound (passive), ErrInequivalent, ErrReservedName,
// ErrDefaultExchange, ErrUnknownExchangeType, ErrInvalidBinding.
func (s *Session) DeclareExchange(spec catalog.ExchangeSpec) error {
	return s.change(func(e *catalog.Edit) error { return e.DeclareExchange(&spec) })
}

// DeleteExchange deletes an exchange with its bindings. A missing exchange is no error. Errors:
// ErrAccessRefused, ErrInUse, ErrDefaultExchange, ErrSystemExchange.
func (s *Session) DeleteExchange(name string, ifUnused bool) error {
	return s.change(func(e *catalog.Edit) error { return e.DeleteExchange(name, ifUnused) })
}

// Bind adds a binding. Errors: ErrAccessRefused, ErrExchangeNotFound, ErrQueueNotFound,
// ErrDefaultExchange, ErrInvalidBinding, ErrExclusive.
func (s *Session) Bind(spec catalog.BindSpec) error {
	return s.change(func(e *catalog.Edit) error { return e.Bind(&spec) })
}

// Unbind removes a binding. A missing binding, exchange or queue is no error. Errors:
// ErrAccessRefused, ErrDefaultExchange, ErrExclusive.
func (s *Session) Unbind(spec catalog.BindSpec) error {
	return s.change(func(e *catalog.Edit) error { return e.Unbind(&spec) })
}
