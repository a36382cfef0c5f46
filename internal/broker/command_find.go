package broker

import (
	"errors"
	"strings"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
)

// writable finds a queue that the session may publish to. With create, a missing one is declared:
// durable, with default settings, and deleted once it is empty and unused (implicit.go).
func (s *Session) writable(name string, create bool) (*shard.Queue, error) {
	if err := s.may(toWrite, "queue", name); err != nil {
		return nil, err
	}
	s.batch.Publishes = true
	return s.findOrMake(name, create)
}

// readable finds a queue that the session may take from.
func (s *Session) readable(name string) (*shard.Queue, error) {
	s.Flush()
	if err := s.may(toRead, "queue", name); err != nil {
		return nil, err
	}
	return s.usableQueue(name)
}

// findOrMake finds a queue; with create it declares a missing one.
func (s *Session) findOrMake(name string, create bool) (q *shard.Queue, err error) {
	for range goneTries { // it may be deleted as soon as it is created
		q, err = s.usableQueue(name)
		if !create || !errors.Is(err, ErrQueueNotFound) {
			break
		}
		if err := catalog.CheckLength("queue", name); err != nil {
			return nil, err
		}
		if strings.HasPrefix(name, "amq.") {
			return nil, s.fail(ErrReservedName, "queue", name)
		}
		_, err := s.DeclareQueue(QueueSpec{Name: name, Durable: true, Implicit: true, Policy: DefaultQueuePolicy()})
		if err != nil && !errors.Is(err, ErrInequivalent) { // another session declared it meanwhile, with other settings
			return nil, err
		}
	}
	return q, err
}
