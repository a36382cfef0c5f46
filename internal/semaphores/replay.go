package semaphores

import (
	"bytes"
	"fmt"
	"io"

	"fiveways/internal/core/semaphore"
	"fiveways/internal/storage/store"
)

var errUnsupported = store.ErrUnsupportedFormat

// replay does what an entry of the log says. A fact says how things are then, not what changed: a checkpoint that was written beside changes may have
// seen some of those behind it, and what they are about may be gone already.
func (m *Manager) replay(entry []byte) {
	if m.broken != nil {
		return
	}
	if err := replayEntry(&m.table, entry); err != nil {
		m.broken = err
	}
}

func replayEntry(t *table, entry []byte) error {
	from := bytes.NewReader(entry)
	r := &reader{source: from}
	if err := r.version(); err != nil {
		return err
	}
	var at *sem // nil: it is gone
	for from.Len() > 0 && r.err == nil {
		kind := r.byte()
		switch kind {
		case factCreate:
			at = t.created(r)
		case factAt:
			at = t.byID[r.uvarint()]
		default:
			if at != nil && t.byID[at.id] != at {
				at = nil
			}
			replayFact(t, r, kind, at)
		}
	}
	return r.err
}

// replayFact does a fact about a semaphore that may be gone.
func replayFact(t *table, r *reader, kind byte, s *sem) {
	switch kind {
	case factConfigure:
		if c := r.config(); s != nil && r.err == nil {
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
		if task := r.task(); s != nil && r.err == nil {
			t.put(s, task)
		}
	case factRemove:
		if id := r.str(); s != nil {
			t.take(s, id)
		}
	case factTransition:
		e, seq, id := semaphore.Event(r.byte()), r.uvarint(), r.str()
		if s != nil && r.err == nil {
			t.transition(r, s, e, seq, id)
		}
	default:
		r.fail(fmt.Errorf("%w: fact %d of the semaphores", errUnsupported, kind))
	}
}

// created adds a semaphore, unless the checkpoint had it.
func (t *table) created(r *reader) *sem {
	s, c := r.identity(), r.config()
	if r.err != nil {
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

// loading is a semaphore whose tasks get their order when the log was read: table.settle.
func loading(c semaphore.Config) *semaphore.State {
	s := semaphore.New(c)
	s.Load()
	return s
}

// configured sets what a semaphore goes by. With tasks that came later the order may have to change under them.
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
	case semaphore.EventExpired: // the semaphore stays: it may be a checkpoint that says it was deleted, which comes later in the log, as others of its tasks may
		t.take(s, id)
	case semaphore.EventDeleted:
		if t.take(s, id); s.state.Len() == 0 {
			t.remove(s)
		}
	default:
		r.fail(fmt.Errorf("%w: event %d of a semaphore", errUnsupported, e))
	}
}

// What a checkpoint consists of, after the version. Never renumber.
const (
	partEnd       = 0 // and the number of the last semaphore
	partSemaphore = 1
	partTask      = 2
)

// restore reads a checkpoint.
func (m *Manager) restore(from io.Reader) error {
	src, ok := from.(source)
	if !ok {
		return errFormat
	}
	r := &reader{source: src}
	if err := r.version(); err != nil {
		return err
	}
	var at *sem
	for r.err == nil {
		switch kind := r.byte(); kind {
		case partEnd:
			m.table.lastID = max(m.table.lastID, r.uvarint())
			return r.err
		case partSemaphore:
			at = m.table.restored(r)
		case partTask:
			if task := r.task(); at != nil && r.err == nil {
				m.table.put(at, task)
			}
		default:
			r.fail(fmt.Errorf("%w: part %d of a checkpoint of the semaphores", errUnsupported, kind))
		}
	}
	return r.err
}

func (t *table) restored(r *reader) *sem {
	h := r.header()
	if r.err != nil {
		return nil
	}
	if t.byID[h.id] != nil {
		r.fail(fmt.Errorf("%w: semaphore %d twice", errFormat, h.id))
		return nil
	}
	s := new(sem)
	*s = h.sem
	s.state = loading(h.config)
	s.state.SetNextSeq(max(h.nextSeq, 1))
	t.add(s)
	return s
}
