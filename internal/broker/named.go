package broker

import (
	"fiveways/internal/core/queue"
	"fiveways/internal/core/routing"
)

// namedTargets remembers the queues that a session sent to by name, as long as neither the definitions nor the rules change.
type namedTargets struct {
	table      *routing.Table
	generation uint64 // of the rules
	found      map[string]Targets
}

// To finds the queue of a name for messages that no exchange is to route; one that is not there is made, and goes when nobody needs it. The user must be
// allowed to write to it, and to make one to configure it. Errors: ErrAccessRefused, ErrExclusive, ErrReservedName, ErrInvalidName, ErrQueueLimit,
// ErrLogFailed.
func (s *Session) To(name []byte) (Targets, error) {
	c := &s.named
	generation, table := s.b.rules.generation.Load(), s.vhost.table.Load()
	if c.table != table || c.generation != generation || len(c.found) >= routeCacheSize {
		clear(c.found)
		c.table, c.generation = table, generation
	}
	if t, ok := c.found[string(name)]; ok {
		return t, nil
	}
	s.Flush()
	q, err := s.writable(string(name), true)
	if err != nil {
		return Targets{}, err
	}
	t := newTargets([]*Queue{q})
	if s.vhost.table.Load() == table {
		if c.found == nil {
			c.found = map[string]Targets{}
		}
		c.found[q.Name] = t
	}
	return t, nil
}

// MakeReadable makes sure that there is a queue of a name from which the session may consume; one that is not there is made, and goes when nobody needs
// it. Errors: those of To.
func (s *Session) MakeReadable(name string) error {
	_, err := s.readableList(name, true)
	return err
}

// MayWrite tells whether the user may put messages into a queue, there or not. Errors: ErrAccessRefused.
func (s *Session) MayWrite(queue string) error { return s.may(toWrite, "queue", queue) }

// Seek leaves out all messages before a place in the queue. It comes before the first Next.
func (b *Browser) Seek(h queue.Handle) { b.at = max(b.at, h) }
