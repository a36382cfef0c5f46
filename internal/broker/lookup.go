package broker

import (
	"cmp"
	"errors"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/idindex"
)

// AwaitRemovals returns once all removals of queues, exchanges and bindings that the session may
// have seen are durable. It precedes every answer that something does not exist, and the confirm of
// a message that reaches no queue. Errors: ErrLogFailed.
func (s *Session) AwaitRemovals() error { return s.b.journal.AwaitRemovals() }

// HasQueue reports whether a queue with this name exists, including exclusive ones. Before it
// returns false it waits until that is durable or the log has failed. The caller must hold no lock.
func (s *Session) HasQueue(name string) bool {
	if s.Rights.HasQueue(name) {
		return true
	}
	s.AwaitRemovals() //nolint:errcheck // it is not there
	return false
}

// usableQueue finds a queue that this session may use. Before it reports that there is none it
// waits until that is durable.
func (s *Session) usableQueue(name string) (*shard.Queue, error) {
	q, err := s.Usable(s.vhost.Table(), name)
	if errors.Is(err, failure.ErrQueueNotFound) {
		err = cmp.Or(s.AwaitRemovals(), err)
	}
	if err != nil {
		return nil, err
	}
	return shard.QueueOf(q), nil
}

// MayRead reports whether the session may consume from a queue, which must exist. Protocols call it
// before they check arguments, so that only users with the permission learn about errors in these.
// Errors: ErrAccessRefused, ErrQueueNotFound, ErrExclusive.
func (s *Session) MayRead(queue string) error {
	if err := s.May(Reading, "queue", queue); err != nil {
		return err
	}
	_, err := s.usableQueue(queue)
	return err
}

// MayConsume reports whether the session may consume from a queue, which need not exist. Errors:
// ErrAccessRefused, ErrExclusive.
func (s *Session) MayConsume(queue string) error { return s.mayUse(Reading, queue) }

// MayWrite reports whether the session may publish to a queue, which need not exist. Errors:
// ErrAccessRefused, ErrExclusive.
func (s *Session) MayWrite(queue string) error { return s.mayUse(Writing, queue) }

// MayDelete reports whether the session may delete a queue, which need not exist. Errors:
// ErrAccessRefused, ErrExclusive.
func (s *Session) MayDelete(queue string) error { return s.mayUse(Configuring, queue) }

func (s *Session) mayUse(action, queue string) error {
	if err := s.May(action, "queue", queue); err != nil {
		return err
	}
	if _, err := s.usableQueue(queue); !errors.Is(err, failure.ErrQueueNotFound) {
		return err
	}
	return nil
}

// Alive reports whether a message with an id, other than those of but, is in any state in a queue
// of the virtual host whose messages have an order (QueuePolicy.ConsumeAfter).
func (s *Session) Alive(messageID string, but ...shard.Loan) (alive bool) {
	s.Flush()
	sum := idindex.SumOf([]byte(messageID))
	for _, sh := range s.vhost.OrderedOn() {
		if alive = sh.Alive(s.vhost, sum, but); alive {
			break
		}
	}
	return alive
}
