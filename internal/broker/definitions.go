package broker

import (
	"encoding/json"
	"sync"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/routing"
)

// Definitions are changes to a virtual host's definitions, in an order in which each may depend on
// the earlier ones. Session.Define makes all of them or none.
type Definitions struct{ steps []func(*catalog.Edit) error }

func (d *Definitions) add(step func(*catalog.Edit) error) { d.steps = append(d.steps, step) }

// DeclareQueue declares a queue. If it exists it must be equivalent. A passive declaration only
// checks that it exists.
func (d *Definitions) DeclareQueue(spec catalog.QueueSpec) {
	d.add(func(e *catalog.Edit) error { return e.DeclareQueue(&spec) })
}

// DeclareExchange declares an exchange. If it exists it must be equivalent.
func (d *Definitions) DeclareExchange(spec catalog.ExchangeSpec) {
	d.add(func(e *catalog.Edit) error { return e.DeclareExchange(&spec) })
}

// Bind adds a binding.
func (d *Definitions) Bind(spec catalog.BindSpec) {
	d.add(func(e *catalog.Edit) error { return e.Bind(&spec) })
}

// Unbind removes a binding, which need not exist.
func (d *Definitions) Unbind(spec catalog.BindSpec) {
	d.add(func(e *catalog.Edit) error { return e.Unbind(&spec) })
}

// DeleteQueue deletes a queue with its messages, even if it is in use. It need not exist.
func (d *Definitions) DeleteQueue(name string) {
	d.add(func(e *catalog.Edit) error { return e.DeleteQueue(name) })
}

// DeleteExchange deletes an exchange with its bindings. It need not exist.
func (d *Definitions) DeleteExchange(name string) {
	d.add(func(e *catalog.Edit) error { return e.DeleteExchange(name, false) })
}

// SetParameter sets a parameter to a value, which is JSON text.
func (d *Definitions) SetParameter(component, name string, value json.RawMessage) {
	d.add(func(e *catalog.Edit) error { return e.SetParameter(component, name, value) })
}

// DeleteParameter deletes a parameter, which need not exist.
func (d *Definitions) DeleteParameter(component, parameter string) {
	d.add(func(e *catalog.Edit) error {
		e.DeleteParameter(component, parameter)
		return nil
	})
}

// AlterParameter sets a parameter, if it exists, to what alter returns for its value; nil changes
// nothing. Nothing else changes the definitions meanwhile.
func (d *Definitions) AlterParameter(component, name string, alter func(json.RawMessage) json.RawMessage) {
	d.add(func(e *catalog.Edit) error { return e.AlterParameter(component, name, alter) })
}

// Define makes the changes and returns once they are durable. They are one entry of the log, so
// after a crash either all or none of them exist. If a change fails, Define returns its error and
// nothing has changed. Errors: those of the Session methods with the names of the changes, and
// ErrLogFailed.
func (s *Session) Define(d *Definitions) error {
	return s.change(func(e *catalog.Edit) error {
		err := s.vhost.Check()
		for i := 0; i < len(d.steps) && err == nil; i++ {
			err = d.steps[i](e)
		}
		return err
	})
}

// change makes the changes that decide adds to an edit, or none if decide fails, and returns once
// they are durable.
func (s *Session) change(decide func(*catalog.Edit) error) error {
	s.Flush()
	j := s.b.journal
	j.Lock()
	e := s.vhost.Edit(&s.Rights)
	if err := decide(e); err != nil {
		j.Unlock()
		return err
	}
	index := s.b.commitEdit(e)
	var heard *sync.WaitGroup
	if e.ChangesPolicies() {
		heard = s.b.enforce(&s.vhost.VHost)
	}
	j.Unlock()
	if heard != nil {
		heard.Wait()
	}
	for i := range e.Bound {
		s.recall(&e.Bound[i])
	}
	if err := j.Await(index); err != nil {
		return err
	}
	return s.b.dropAll(e.Ended) // only once the deletion is durable: an earlier crash brings the queues back
}

// commitEdit records a change and makes it. It returns the index of the entry to wait for; 0 means
// none. The caller holds the lock of the journal.
func (b *Broker) commitEdit(e *catalog.Edit) (index uint64) {
	index = b.journal.Record(e.Facts())
	if e.Removes {
		b.journal.Removes(index)
	}
	for _, def := range e.Made {
		q := shard.QueueOf(def)
		if q.Buffer == nil {
			b.queuesCreated.Add(1)
		}
		if q.Durable {
			q.Created = index
		}
		q.Register()
		if s := ownerOf(q); s != nil {
			s.own(q)
		}
	}
	for _, def := range e.Kept {
		shard.QueueOf(def).ExplicitAt.Store(index) // before Commit: a session that sees the queue waits for this entry
	}
	e.Commit()
	for _, def := range e.Ended {
		q := shard.QueueOf(def)
		if s := ownerOf(q); s != nil {
			s.disown(q)
		}
	}
	if !e.Durable {
		return 0
	}
	return index
}

// ownerOf returns the session with which an exclusive queue is deleted, or nil for other queues.
func ownerOf(q *shard.Queue) *Session {
	s, _ := q.Owner.(*Session)
	return s
}

// own records that a queue is deleted with the session.
func (s *Session) own(q *shard.Queue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.exclusive == nil {
		s.exclusive = map[string]*shard.Queue{}
	}
	s.exclusive[q.Name] = q
}

// disown forgets a deleted queue.
func (s *Session) disown(q *shard.Queue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.exclusive[q.Name] == q {
		delete(s.exclusive, q.Name)
	}
}

// recall sends the history of the exchange, in order, to a destination that was just bound to it.
// It returns once the messages are sent.
func (s *Session) recall(b *routing.Binding) {
	x, ok := s.vhost.Table().Exchange(b.Source)
	if !ok || !x.Buffer().Copy {
		return
	}
	q := s.b.set.BufferQueue(x)
	if q == nil {
		return
	}
	q.Recall(b)
}
