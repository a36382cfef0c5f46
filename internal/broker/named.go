package broker

import (
	"fiveways.dev/fiveways/internal/broker/routecache"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/routing"
	"fiveways.dev/fiveways/internal/storage/store"
)

// namedTargets caches the queues that a session has sent to by name, until the definitions or the
// permissions change.
type namedTargets struct {
	table      *routing.Table
	generation uint64 // of the permissions
	found      map[string]shard.Targets
}

// To finds the queue with a name, for messages that no exchange routes. A missing queue is created,
// and removed when it is idle. The user needs write permission for the queue, and configure
// permission to create it. Errors: ErrAccessRefused, ErrExclusive, ErrReservedName, ErrInvalidName,
// ErrQueueLimit, ErrLogFailed.
func (s *Session) To(name []byte) (shard.Targets, error) {
	if t, ok := s.Known(name); ok {
		return t, nil
	}
	c, table := &s.named, s.named.table
	s.Flush()
	q, err := s.writable(string(name), true)
	if err != nil {
		return shard.Targets{}, err
	}
	t := shard.NewTargets([]*shard.Queue{q})
	if s.vhost.Table() == table {
		if c.found == nil {
			c.found = map[string]shard.Targets{}
		}
		c.found[q.Name] = t
	}
	return t, nil
}

// Into is To for a queue that must exist. Errors: ErrAccessRefused, ErrQueueNotFound, ErrExclusive.
func (s *Session) Into(name string) (shard.Targets, error) {
	s.Flush()
	q, err := s.writable(name, false)
	if err != nil {
		return shard.Targets{}, err
	}
	return shard.NewTargets([]*shard.Queue{q}), nil
}

// Known looks up a queue in the cache of To. ok is false if the cache does not have it.
func (s *Session) Known(name []byte) (t shard.Targets, ok bool) {
	c := &s.named
	generation, table := s.b.AccessGeneration(), s.vhost.Table()
	if c.table != table || c.generation != generation || len(c.found) >= routecache.Size {
		clear(c.found)
		c.table, c.generation = table, generation
	}
	t, ok = c.found[string(name)]
	return t, ok
}

// MakeReadable ensures that a queue exists from which the session may consume. A missing queue is
// created, and removed when it is idle. Errors: those of To.
func (s *Session) MakeReadable(name string) error {
	_, err := Finder{s}.Queue(Reading, name, true)
	return err
}

// Unheld makes the session's Flush wait only for shards that are behind, not for the log, memory or
// consumers. It is for a caller that has other requests to serve meanwhile, and calls Behind
// itself.
func (s *Session) Unheld() { s.batch.Unheld = true }

// Behind reports whether publishers must wait for the log or for memory.
func (b *Broker) Behind() bool { return b.set.OverMark() }

// LogFailed reports whether the log accepts no more writes. After that no publish is confirmed.
func (b *Broker) LogFailed() bool { return b.set.Log.State().Health == store.Failed }
