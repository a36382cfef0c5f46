package semaphores

import (
	"bufio"
	"fmt"
	"io"

	"fiveways.dev/fiveways/internal/core/semaphore"
	"fiveways.dev/fiveways/internal/storage/store"
)

var errUnsupported = store.ErrUnsupportedFormat

// replay applies a log entry. A fact records a result, not a difference: a checkpoint written
// during changes may contain changes that follow it in the log, and what they concern may already
// be deleted.
func (m *Manager) replay(entry []byte) {
	if m.broken != nil {
		return
	}
	if err := replayEntry(&m.table, entry); err != nil {
		m.broken = err
	}
}

func replayEntry(t *table, entry []byte) error {
	var r reader
	r.Reset(entry)
	r.version()
	var at *sem // nil: it no longer exists
	for r.Len() > 0 {
		kind := r.Uint8()
		switch kind {
		case factCreate:
			at = t.created(&r)
		case factAt:
			at = t.byID[r.Uvarint()]
		default:
			if at != nil && t.byID[at.id] != at {
				at = nil
			}
			replayFact(t, &r, kind, at)
		}
	}
	return r.failure()
}

// replayFact applies a fact about a semaphore, which is nil if it no longer exists.
func replayFact(t *table, r *reader, kind byte, s *sem) {
	switch kind {
	case factConfigure:
		if c := r.config(); s != nil && r.Err() == nil {
			t.configured(s, c)
		}
	case factDelete:
		if s != nil {
			t.deleted(s)
		}
	case factDrop:
		if s != nil {
			t.remove(s)
		}
	case factPut:
		if task := r.task(); s != nil && r.Err() == nil {
			t.put(s, task)
		}
	case factRemove:
		if id := r.str(); s != nil {
			t.take(s, id)
		}
	case factTransition:
		e, seq, id := semaphore.Event(r.Uint8()), r.Uvarint(), r.str()
		if s != nil && r.Err() == nil {
			t.transition(r, s, e, seq, id)
		}
	default:
		r.Fail(fmt.Errorf("%w: fact %d of the semaphores", errUnsupported, kind))
	}
}

// created adds a semaphore, unless the checkpoint contained it.
func (t *table) created(r *reader) *sem {
	s, c := r.identity(), r.config()
	if r.Err() != nil {
		return nil
	}
	if there := t.byID[s.id]; there != nil {
		t.configured(there, c)
		return there
	}
	s.state = loading(c)
	t.add(&s)
	return &s
}

// loading returns a semaphore whose tasks are sorted at the end of the replay, by table.settle.
func loading(c semaphore.Config) *semaphore.State {
	s := semaphore.New(c)
	s.Load()
	return s
}

// configured sets the settings of a semaphore. If the checkpoint contains later tasks, their order
// may have to change.
func (t *table) configured(s *sem, c semaphore.Config) {
	if s.state.Configure(c) == nil {
		return
	}
	was := s.state
	s.state = loading(c)
	was.Scan(0, was.Len(), func(task semaphore.Task) { s.state.Put(task) })
	s.state.SetNextSeq(was.NextSeq())
	t.weigh(s)
}

func (t *table) deleted(s *sem) {
	s.deleted = true
	t.unname(s)
	if s.state.Len() == 0 {
		t.remove(s)
	}
}

func (t *table) transition(r *reader, s *sem, e semaphore.Event, seq uint64, id string) {
	s.events = seq
	switch e {
	case semaphore.EventAcquired, semaphore.EventRetained:
		t.setStatus(s, id, semaphore.Acquired, 0)
	case semaphore.EventTryRelease:
		t.setStatus(s, id, semaphore.TryRelease, 0)
	case semaphore.EventExpired: // the semaphore stays: the checkpoint may be ahead
		t.take(s, id)
	case semaphore.EventDeleted:
		if t.take(s, id); s.state.Len() == 0 {
			t.remove(s)
		}
	default:
		r.Fail(fmt.Errorf("%w: event %d of a semaphore", errUnsupported, e))
	}
}

// The parts of a checkpoint, after the version. Never renumber.
const (
	partEnd       = 0 // with the ID of the last semaphore
	partSemaphore = 1
	partTask      = 2
)

// mostPart is an upper bound of the size of any part of a checkpoint: a few numbers and names.
const mostPart = 2048

// restore reads a checkpoint part by part.
func (m *Manager) restore(from io.Reader) error {
	in := bufio.NewReaderSize(from, 64<<10)
	part, _ := in.Peek(1) // an empty file is a version that cannot be read
	var r reader
	r.Reset(part)
	r.version()
	var at *sem
	for ended := false; !ended && r.Err() == nil; {
		_, _ = in.Discard(len(part) - r.Len())
		var err error
		if part, err = in.Peek(mostPart); err != nil && err != io.EOF {
			return fmt.Errorf("%w: %w", errFormat, err)
		}
		r.Reset(part)
		at, ended = m.table.part(&r, at)
	}
	return r.failure()
}

// part reads a part of a checkpoint. at is the semaphore of the part, next that of the next part.
// ended reports that it was the last part.
func (t *table) part(r *reader, at *sem) (next *sem, ended bool) {
	switch kind := r.Uint8(); kind {
	case partEnd:
		t.lastID = max(t.lastID, r.Uvarint())
		return nil, true
	case partSemaphore:
		return t.restored(r), false
	case partTask:
		if task := r.task(); at != nil && r.Err() == nil {
			t.put(at, task)
		}
	default:
		r.Fail(fmt.Errorf("%w: part %d of a checkpoint of the semaphores", errUnsupported, kind))
	}
	return at, false
}

func (t *table) restored(r *reader) *sem {
	h := r.header()
	if r.Err() != nil {
		return nil
	}
	if t.byID[h.id] != nil {
		r.Fail(fmt.Errorf("%w: semaphore %d twice", errFormat, h.id))
		return nil
	}
	s := new(sem)
	*s = h.sem
	s.state = loading(h.config)
	s.state.SetNextSeq(max(h.nextSeq, 1))
	t.add(s)
	return s
}
