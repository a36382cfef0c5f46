package broker

import (
	"errors"

	"fiveways.dev/fiveways/internal/broker/shard"
)

// Look finds out the version of a queue, which need not be there.
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

// Unchanged is a condition of Session.DoAll: when the queue is not any more as Look found it, none
// of the commands behind this one is done.
type Unchanged struct {
	OnQueue
	Since   shard.QueueVersion
	Changed bool
}

// find makes a queue that was not there: it must be known when somebody else makes it and puts
// something into it.
func (u *Unchanged) Find(f Finder) (*shard.Queue, error) {
	q, err := f.s.readable(u.Queue)
	u.Changed = err != nil && u.Since != (shard.QueueVersion{}) // it is gone
	if errors.Is(err, ErrQueueNotFound) && !u.Changed && f.s.may(toWrite, "queue", u.Queue) == nil {
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

// unmet tells that the commands behind c must not be done.
func unmet(c Command) bool {
	u, ok := c.(interface{ unmet() bool })
	return ok && u.unmet()
}
