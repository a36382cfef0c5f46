package broker

import (
	"errors"
	"slices"

	"fiveways/internal/core/catalog"
)

// DeclareQueue creates a queue, or checks that the existing one is equivalent, and returns when it
// exists durably. Errors: ErrAccessRefused, ErrQueueNotFound (passive), ErrExclusive,
// ErrInequivalent, ErrQueueLimit, ErrLogFailed.
func (s *Session) DeclareQueue(spec QueueSpec) (QueueInfo, error) {
	s.Flush()
	s.b.counters.queuesDeclared.Add(1)
	if !spec.Passive {
		if err := s.may(toConfigure, "queue", spec.Name); err != nil {
			return QueueInfo{}, err
		}
	}
	q, ok := s.vhost.queue(spec.Name)
	if !ok && spec.Passive {
		return QueueInfo{}, s.noQueue(spec.Name)
	}
	if !ok {
		err := s.change(func(e *catalog.Edit) error {
			if q, ok = s.vhost.queue(spec.Name); ok { // declared meanwhile
				return nil
			}
			return e.DeclareQueue(&spec)
		})
		if err != nil || !ok {
			return QueueInfo{Name: spec.Name}, err
		}
	}
	return s.redeclare(q, &spec)
}

// redeclare answers the declaration of an existing queue.
func (s *Session) redeclare(q *Queue, spec *QueueSpec) (QueueInfo, error) {
	if spec.Passive && q.owner != nil && q.owner != s {
		return QueueInfo{}, s.fail(ErrExclusive, "queue", spec.Name)
	}
	if !spec.Passive {
		if err := s.Compare(&q.Queue, spec); err != nil {
			return QueueInfo{}, err
		}
	}
	if !spec.Passive && !spec.Implicit && q.Implicit() {
		if !s.b.makeExplicit(q) { // it was removed just now
			return s.DeclareQueue(*spec)
		}
	}
	durable := max(q.created, q.explicitAt.Load())
	info := QueueInfo{Name: q.Name}
	err := q.shard.call(func() {
		q.shard.catchUpConsumers(q)
		q.used(q.shard.now)
		info.Ready, info.Consumers = q.state.Ready(), q.consumers.Len()
	})
	if err != nil {
		return info, err
	}
	return info, s.b.journal.Await(durable)
}

// DeleteQueue deletes a queue and returns when that is durable, with the number of ready messages
// that the queue held. A missing queue is no error. Errors: ErrAccessRefused, ErrExclusive,
// ErrInUse, ErrNotEmpty.
func (s *Session) DeleteQueue(name string, ifUnused, ifEmpty bool) (messages int, err error) {
	s.Flush()
	if err := s.may(toConfigure, "queue", name); err != nil {
		return 0, err
	}
	q, err := s.usableQueue(name)
	if errors.Is(err, ErrQueueNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return s.b.deleteQueueIf(q, dropWhen{unused: ifUnused, empty: ifEmpty})
}

// deleteQueue deletes a queue that no client asked to delete.
func (b *Broker) deleteQueue(q *Queue) { b.endQueue(q, dropWhen{unused: q.owner == nil}) }

// expireQueue deletes a queue that was not used for its time.
func (b *Broker) expireQueue(q *Queue) { b.endQueue(q, dropWhen{expired: true}) }

func (b *Broker) endQueue(q *Queue, when dropWhen) {
	if _, err := b.deleteQueueIf(q, when); err != nil && !errors.Is(err, ErrClosed) && !errors.Is(err, ErrInUse) {
		b.log.Warn("a queue could not be deleted", "vhost", q.vhost.Name, "queue", q.Name, "err", err)
	}
}

func (b *Broker) deleteQueueIf(q *Queue, when dropWhen) (messages int, err error) {
	b.journal.Lock()
	sh := q.shard
	var release func()
	closed := sh.call(func() {
		n, runs, e := sh.drop(q, when)
		messages, err = n, e
		release = func() { b.store.ReleaseRuns(sh.id, runs) }
	})
	if err == nil {
		err = closed
	}
	if err != nil {
		b.journal.Unlock()
		return 0, err
	}
	index := b.journal.Last() // one fact has deleted the virtual host with all its queues, or:
	e := q.vhost.Edit(nil)
	if !q.vhost.Gone() {
		e.EndQueue(&q.Queue)
		index = b.commitEdit(e)
	} else if q.owner != nil {
		q.owner.disown(q)
	}
	b.journal.Unlock()
	if err := b.journal.Await(index); err != nil {
		return messages, err
	}
	release() // not before the deletion is durable: after a crash the queue might still need them
	return messages, b.dropAll(slices.DeleteFunc(e.Ended, func(def *catalog.Queue) bool { return def == &q.Queue }))
}

// PurgeQueue removes the ready messages and returns when that is durable, with their number.
// Errors: ErrAccessRefused, ErrQueueNotFound, ErrExclusive, ErrLogFailed.
func (s *Session) PurgeQueue(name string) (messages int, err error) {
	s.Flush()
	if err := s.may(toRead, "queue", name); err != nil {
		return 0, err
	}
	q, err := s.usableQueue(name)
	if err != nil {
		return 0, err
	}
	done := make(chan error, 1)
	if err := q.shard.call(func() { messages = q.shard.purge(q, func(err error) { done <- err }) }); err != nil {
		return 0, err
	}
	if err := <-done; err != nil {
		return 0, s.fail(ErrLogFailed, "queue", name)
	}
	return messages, nil
}

// DeclareExchange creates an exchange, or checks that the existing one is equivalent. Errors:
// ErrAccessRefused, ErrExchangeNotFound (passive), ErrInequivalent, ErrReservedName,
// ErrDefaultExchange, ErrUnknownExchangeType, ErrInvalidBinding.
func (s *Session) DeclareExchange(spec ExchangeSpec) error {
	return s.change(func(e *catalog.Edit) error { return e.DeclareExchange(&spec) })
}

// DeleteExchange deletes an exchange with its bindings. A missing exchange is no error. Errors:
// ErrAccessRefused, ErrInUse, ErrDefaultExchange, ErrSystemExchange.
func (s *Session) DeleteExchange(name string, ifUnused bool) error {
	return s.change(func(e *catalog.Edit) error { return e.DeleteExchange(name, ifUnused) })
}

// Bind adds a binding. Errors: ErrAccessRefused, ErrExchangeNotFound, ErrQueueNotFound,
// ErrDefaultExchange, ErrInvalidBinding, ErrExclusive.
func (s *Session) Bind(spec BindSpec) error {
	return s.change(func(e *catalog.Edit) error { return e.Bind(&spec) })
}

// Unbind removes a binding. A missing binding, exchange or queue is no error. Errors:
// ErrAccessRefused, ErrDefaultExchange, ErrExclusive.
func (s *Session) Unbind(spec BindSpec) error {
	return s.change(func(e *catalog.Edit) error { return e.Unbind(&spec) })
}
