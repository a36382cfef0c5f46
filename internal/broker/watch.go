package broker

import (
	"errors"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
)

// Look reads the version of a queue, which need not exist, or of a stream.
type Look struct {
	OnQueue
	Version shard.QueueVersion
}

// Find creates a missing queue if the session may: only a queue can tell what has been undone.
func (l *Look) Find(f Finder) (*shard.Queue, error) {
	l.Version = shard.QueueVersion{}
	q, err := f.s.readable(l.Queue)
	if errors.Is(err, failure.ErrQueueNotFound) && f.s.May(Writing, "queue", l.Queue) == nil {
		if made, failed := f.s.findOrMake(l.Queue, true); failed == nil {
			return made, nil
		}
	}
	return q, err
}

func (l *Look) Run(at shard.Context) error {
	l.Version = at.Watch()
	return nil
}

// Unchanged is a condition in Session.DoAll: if the queue has changed since Look, no command after
// this one is executed.
type Unchanged struct {
	OnQueue
	Since   shard.QueueVersion
	Changed bool
}

func (u *Unchanged) Find(f Finder) (*shard.Queue, error) {
	q, err := f.s.readable(u.Queue)
	u.Changed = err != nil && (u.Since != (shard.QueueVersion{}) || !errors.Is(err, failure.ErrQueueNotFound))
	return q, err
}

// Run compares the versions. To a queue that did not exist, nothing may have happened since.
func (u *Unchanged) Run(at shard.Context) error {
	now := at.Version()
	u.Changed = now != u.Since && (u.Since != (shard.QueueVersion{}) || now.Changes > 0)
	return nil
}

func (*Look) OfStreams()      {}
func (*Unchanged) OfStreams() {}

// unmet reports whether c is an unmet condition: no command after it may be executed.
func unmet(c Command) bool {
	u, ok := c.(*Unchanged)
	return ok && u.Changed
}
