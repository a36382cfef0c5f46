package broker

import (
	"errors"
	"strings"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
)

// writable finds a queue that the session may publish to. With create, a missing one is declared:
// durable, with default settings, and deleted once it is empty and unused (implicit.go).
func (s *Session) writable(name string, create bool) (*shard.Queue, error) {
	if err := s.May(Writing, "queue", name); err != nil {
		return nil, err
	}
	s.batch.Publishes = true
	return s.findOrMake(name, create)
}

// readable finds a queue that the session may take from.
func (s *Session) readable(name string) (*shard.Queue, error) {
	s.Flush()
	if err := s.May(Reading, "queue", name); err != nil {
		return nil, err
	}
	return s.usableQueue(name)
}

// findOrMake finds a queue; with create it declares a missing one.
func (s *Session) findOrMake(name string, create bool) (q *shard.Queue, err error) {
	for range goneTries { // it may be deleted as soon as it is created
		q, err = s.usableQueue(name)
		if !create || !errors.Is(err, failure.ErrQueueNotFound) {
			break
		}
		if err := catalog.CheckLength("queue", name); err != nil {
			return nil, err
		}
		if strings.HasPrefix(name, "amq.") {
			return nil, s.Fail(failure.ErrReservedName, "queue", name)
		}
		_, err := s.DeclareQueue(catalog.QueueSpec{Name: name, Durable: true, Implicit: true, Policy: catalog.DefaultQueuePolicy()})
		if err != nil && !errors.Is(err, failure.ErrInequivalent) { // another session declared it meanwhile, with other settings
			return nil, err
		}
	}
	return q, err
}
