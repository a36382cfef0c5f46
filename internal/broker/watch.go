package broker

import "errors"

// QueueVersion tells how a queue is at a moment: another one means that it may hold something else.
// The zero value is that of a queue that is not there.
type QueueVersion struct{ queue, changes uint64 }

// Look finds out the version of a queue, which need not be there.
type Look struct {
	OnQueue
	Version QueueVersion
}

func (l *Look) Find(f Finder) (*Queue, error) {
	q, err := f.s.readable(l.Queue)
	l.Version = QueueVersion{}
	return q, err
}

func (l *Look) Run(at Context) error {
	at.q.watched = at.sh.now
	l.Version = at.q.version()
	return nil
}

// version runs on the shard's goroutine.
func (q *Queue) version() QueueVersion { return QueueVersion{q.ID, q.changes + q.counts.HandedOut()} }

// Unchanged is a condition of Session.DoAll: when the queue is not any more as Look found it, none
// of the commands behind this one is done.
type Unchanged struct {
	OnQueue
	Since   QueueVersion
	Changed bool
}

// find makes a queue that was not there: it must be known when somebody else makes it and puts
// something into it.
func (u *Unchanged) Find(f Finder) (*Queue, error) {
	q, err := f.s.readable(u.Queue)
	u.Changed = err != nil && u.Since != (QueueVersion{}) // it is gone
	if errors.Is(err, ErrQueueNotFound) && !u.Changed && f.s.may(toWrite, "queue", u.Queue) == nil {
		return f.s.findOrMake(u.Queue, true)
	}
	return q, err
}

func (u *Unchanged) Run(at Context) error {
	q := at.q
	if u.Since == (QueueVersion{}) {
		u.Changed = q.state.Ready() > 0
	} else {
		u.Changed = q.version() != u.Since
	}
	return nil
}

func (u *Unchanged) unmet() bool { return u.Changed }

// unmet tells that the commands behind c must not be done.
func unmet(c Command) bool {
	u, ok := c.(interface{ unmet() bool })
	return ok && u.unmet()
}
