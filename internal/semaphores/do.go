package semaphores

import (
	"context"
	"sync/atomic"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/semaphore"
)

func (g *Group) empty() bool { return g.Tx == nil && len(g.Commands) == 0 }

// awaitRoom applies publisher flow control to the group's messages.
func (g *Group) awaitRoom(s *broker.Session) error {
	if g.Tx != nil {
		return g.Tx.AwaitRoom(context.Background())
	}
	return s.ReserveAll(g.Commands...).Await(context.Background())
}

// Do makes changes in order, and returns when they are durable. The Err of each change reports
// whether it succeeded. The transitions that follow are decided at once, and are durable together
// with the changes as far as they fit into one batch of the log; the rest follows automatically.
// The caller must not hold a lock that a sink or a confirmer takes. After an error the outcome of
// every change is unknown. Errors: failure.ErrLogFailed, failure.ErrClosed.
func (m *Manager) Do(s *broker.Session, changes ...Change) error {
	for {
		n := together(changes)
		if err := m.do(s, Group{}, false, changes[:n]); err != nil || n == len(changes) {
			return err
		}
		changes = changes[n:]
	}
}

// DoWith makes changes atomically with the rest of the group. The rule of each semaphore is applied
// once, after all changes: a task that is released and enqueued again competes with the waiting
// ones, and no other task starts in between. Reads are the exception: the rule is applied before a
// read, so that it shows the result of the changes before it. After an error nothing has happened.
// Errors: those of the group's required commands and of its transaction; with Must, that of the
// first change that failed; failure.ErrTooLarge.
func (m *Manager) DoWith(s *broker.Session, g Group, changes ...Change) error {
	return m.do(s, g, true, changes)
}

func (m *Manager) do(s *broker.Session, g Group, together bool, changes []Change) error {
	if err := m.ready(); err != nil {
		return err
	}
	if err := fewEnough(changes); err != nil {
		return err
	}
	todo := make([]Change, 0, len(changes))
	looks := true
	for _, c := range changes {
		o := c.of()
		if o.Err = m.prepare(s, c); o.Err == nil {
			todo = append(todo, c)
		} else if g.Must {
			return o.Err
		}
		_, ok := c.(looking)
		looks = looks && ok
	}
	s.Flush()
	if err := g.awaitRoom(s); err != nil { // outside the round: no other request waits
		return err
	}
	switch {
	case g.Tx != nil:
	case !g.empty():
	case len(todo) == 0:
		return nil
	case looks && !g.Must:
		return m.look(s, todo)
	}
	return m.execute(&request{s: s, group: g, changes: todo, together: together})
}

// prepare does the part of a change that needs no round: permissions, validation, and the exchange.
func (m *Manager) prepare(s *broker.Session, c Change) error {
	key := c.of().Key
	if err := s.May(c.needs(), "semaphore", key); err != nil {
		return err
	}
	if err := CheckKey(key); err != nil {
		return err
	}
	if err := c.check(); err != nil {
		return err
	}
	if makes(c) {
		return m.declare(s)
	}
	return nil
}

// makes reports whether a change may create a semaphore.
func makes(c Change) bool {
	switch c := c.(type) {
	case *Create:
		return true
	case *Update:
		return c.Create
	}
	return false
}

// declare declares the exchange of the events before the first semaphore of a virtual host is
// created. An existing exchange is left unchanged.
func (m *Manager) declare(s *broker.Session) error {
	vhost := s.VHostID()
	m.mu.Lock()
	first := m.table.byKey[vhost] == nil
	m.mu.Unlock()
	if !first {
		return nil
	}
	op, err := m.b.Operate(vhost.Name)
	if err != nil {
		return err
	}
	defer op.Close()
	if op.DeclareExchange(catalog.ExchangeSpec{Name: Exchange, Passive: true}) == nil {
		return nil
	}
	return op.DeclareExchange(catalog.ExchangeSpec{Name: Exchange, Type: "topic", Durable: true})
}

// counters holds counts since the start.
type counters struct {
	groups, changes atomic.Int64
	transitions     [6]atomic.Int64 // by semaphore.Event
}

func (c *counters) count(r *round) {
	c.groups.Add(1)
	c.changes.Add(int64(len(r.rollbackLog)))
	for i := range r.events {
		c.transitions[r.events[i].Event].Add(1)
	}
}

// Stats are counts for metrics.
type Stats struct {
	Semaphores  int
	Tasks       int
	Waiting     int              // included in Tasks
	Bytes       int64            // estimated memory, as returned by Manager.Bytes
	Groups      int64            // log batches since the start
	Changes     int64            // single steps in these batches
	Transitions map[string]int64 // since the start, by event name
}

// Bytes returns the estimated memory of semaphores and tasks.
func (m *Manager) Bytes() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.table.bytes
}

// Stats returns the current counts.
func (m *Manager) Stats() Stats {
	st := Stats{Groups: m.counters.groups.Load(), Changes: m.counters.changes.Load(), Transitions: map[string]int64{}}
	for e := semaphore.EventAcquired; e <= semaphore.EventDeleted; e++ {
		st.Transitions[e.String()] = m.counters.transitions[e].Load()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.table.byID {
		st.Waiting += s.state.Count(semaphore.Wait)
	}
	st.Semaphores, st.Tasks, st.Bytes = len(m.table.byID), m.table.tasks, m.table.bytes
	return st
}
