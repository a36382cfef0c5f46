package broker

import (
	"fiveways/internal/core/queue"
	"fiveways/internal/core/routing"
	"fiveways/internal/storage/store"
)

// namedTargets remembers the queues that a session sent to by name, as long as neither the
// definitions nor the rules change.
type namedTargets struct {
	table      *routing.Table
	generation uint64 // of the rules
	found      map[string]Targets
}

// To finds the queue of a name for messages that no exchange is to route; one that is not there is
// made, and goes when nobody needs it. The user must be allowed to write to it, and to make one to
// configure it. Errors: ErrAccessRefused, ErrExclusive, ErrReservedName, ErrInvalidName,
// ErrQueueLimit, ErrLogFailed.
func (s *Session) To(name []byte) (Targets, error) {
	if t, ok := s.Known(name); ok {
		return t, nil
	}
	c, table := &s.named, s.named.table
	s.Flush()
	q, err := s.writable(string(name), true)
	if err != nil {
		return Targets{}, err
	}
	t := newTargets([]*Queue{q})
	if s.vhost.Table() == table {
		if c.found == nil {
			c.found = map[string]Targets{}
		}
		c.found[q.Name] = t
	}
	return t, nil
}

// Into is To for a queue that must be there. Errors: ErrAccessRefused, ErrQueueNotFound,
// ErrExclusive.
func (s *Session) Into(name string) (Targets, error) {
	s.Flush()
	q, err := s.writable(name, false)
	if err != nil {
		return Targets{}, err
	}
	return newTargets([]*Queue{q}), nil
}

// Known is To for a queue that To has found lately; it asks nobody.
func (s *Session) Known(name []byte) (t Targets, ok bool) {
	c := &s.named
	generation, table := s.b.AccessGeneration(), s.vhost.Table()
	if c.table != table || c.generation != generation || len(c.found) >= routeCacheSize {
		clear(c.found)
		c.table, c.generation = table, generation
	}
	t, ok = c.found[string(name)]
	return t, ok
}

// MakeReadable makes sure that there is a queue of a name from which the session may consume; one
// that is not there is made, and goes when nobody needs it. Errors: those of To.
func (s *Session) MakeReadable(name string) error {
	_, err := Finder{s}.Queue(Reading, name, true)
	return err
}

// Unheld makes the session's Flush wait only for a shard that is behind, also after publishes: its
// caller has other requests to serve meanwhile, and asks Behind itself.
func (s *Session) Unheld() { s.unheld = true }

// Behind reports whether the log or the memory is so far behind that publishers are to wait.
func (b *Broker) Behind() bool { return b.overMark() }

// LogFailed reports whether the log takes no more writes: then nothing is confirmed any more.
func (b *Broker) LogFailed() bool { return b.wal.State().Health == store.Failed }

// Seek leaves out all messages before a place in the queue. It comes before the first Next.
func (b *Browser) Seek(h queue.Handle) { b.at = max(b.at, h) }

// Skip leaves out the messages before a place, of the priority that Next has come to, and tells how
// many they are; it looks at none of them. Errors: those of Next.
func (b *Browser) Skip(to queue.Handle) (n int, err error) {
	if b.done {
		return 0, nil
	}
	gone := false
	err = b.q.shard.call(func() {
		if gone = b.q.gone; gone || b.skipLane(b.at) {
			return
		}
		if to.Priority() > b.at.Priority() || to > b.ends[0] {
			to = b.ends[0]
		}
		n = b.q.state.Between(b.at, to)
		b.at = max(b.at, to)
	})
	if err == nil && gone {
		err = b.goneError()
	}
	return n, err
}
