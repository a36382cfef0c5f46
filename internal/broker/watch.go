package broker

import (
	"errors"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
)

// Look reads the version of a queue, which need not exist.
type Look struct {
	OnQueue
	Version shard.QueueVersion
}

func (l *Look) Find(f Finder) (*shard.Queue, error) {
	q, err := f.s.readable(l.Queue)
	l.Version = shard.QueueVersion{}
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

// Find creates a queue that did not exist, so that the condition detects whether another session
// creates it and publishes to it.
func (u *Unchanged) Find(f Finder) (*shard.Queue, error) {
	q, err := f.s.readable(u.Queue)
	u.Changed = err != nil && u.Since != (shard.QueueVersion{}) // it was deleted
	if errors.Is(err, failure.ErrQueueNotFound) && !u.Changed && f.s.May(Writing, "queue", u.Queue) == nil {
		return f.s.findOrMake(u.Queue, true)
	}
	return q, err
}

func (u *Unchanged) Run(at shard.Context) error {
	if u.Since == (shard.QueueVersion{}) {
		u.Changed = at.Deliveries().Ready() > 0
	} else {
		u.Changed = at.Version() != u.Since
	}
	return nil
}

func (u *Unchanged) unmet() bool { return u.Changed }

// unmet reports whether c is an unmet condition: no command after it may be executed.
func unmet(c Command) bool {
	u, ok := c.(interface{ unmet() bool })
	return ok && u.unmet()
}
