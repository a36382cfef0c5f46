package broker

import (
	"errors"
	"strings"

	"fiveways/internal/core/catalog"
)

// writable finds a queue that the session may put messages into. One that is not there is declared,
// durable and with nothing else asked of it, when create says so. It goes when nobody needs it
// (implicit.go).
func (s *Session) writable(name string, create bool) (*Queue, error) {
	if err := s.may(toWrite, "queue", name); err != nil {
		return nil, err
	}
	s.pub = true
	return s.findOrMake(name, create)
}

// findOrMake finds a queue, or declares it when it is not there and create says so.
func (s *Session) findOrMake(name string, create bool) (q *Queue, err error) {
	for range goneTries { // it may go as soon as it is made
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
		if err != nil && !errors.Is(err, ErrInequivalent) { // somebody else declared it meanwhile, otherwise
			return nil, err
		}
	}
	return q, err
}
