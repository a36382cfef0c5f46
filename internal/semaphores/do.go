package semaphores

import (
	"sync/atomic"

	"fiveways/internal/broker"
	"fiveways/internal/core/semaphore"
)

func (g *Group) empty() bool { return g.Tx == nil && len(g.Commands) == 0 }

// awaitRoom holds back who publishes with the group.
func (g *Group) awaitRoom(s *broker.Session) error {
	if g.Tx != nil {
		return g.Tx.AwaitRoom()
	}
	return s.ReserveAll(g.Commands...).Await()
}

// Do does changes in their order, and returns when all that they changed is durable; whether each went well is in its Of. The transitions that
// follow are decided at once and durable with them, as far as one group of the log takes them, and the others follow by themselves. The caller holds no lock that a sink or
// a confirmer takes. Errors, after which nothing is known of any of them: broker.ErrLogFailed, broker.ErrClosed.
func (m *Manager) Do(s *broker.Session, changes ...Change) error {
	for {
		n := together(changes)
		if err := m.do(s, Group{}, false, changes[:n]); err != nil || n == len(changes) {
			return err
		}
		changes = changes[n:]
	}
}

// DoWith does changes as one, together with what else is in the group: the rule of each semaphore
// is asked once, when all of them are done, so that a task which is released and enqueued again
// competes with those that wait, and no other task gets a place between the two. A look among them
// is the exception: the rule is asked before it, so that it shows what the changes before it led
// to. Errors, after which nothing happened: those of the group's commands that must be done, of
// its transaction, with Must that of the first change that failed; broker.ErrTooLarge.
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
	if err := g.awaitRoom(s); err != nil { // here it keeps nobody else waiting
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
	return m.enter(&request{s: s, group: g, changes: todo, together: together})
}

// prepare does what of a change needs no place in the line.
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

// makes tells whether a change may make a semaphore.
func makes(c Change) bool {
	switch c := c.(type) {
	case *Create:
		return true
	case *Update:
		return c.Create
	}
	return false
}

// declare makes the exchange of the events before the first semaphore of a virtual host is made. One that was declared as another stays.
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
	if op.DeclareExchange(broker.ExchangeSpec{Name: Exchange, Passive: true}) == nil {
		return nil
	}
	return op.DeclareExchange(broker.ExchangeSpec{Name: Exchange, Type: "topic", Durable: true})
}

// counters are what was done since the start.
type counters struct {
	groups, changes atomic.Int64
	transitions     [6]atomic.Int64 // by semaphore.Event
}

func (c *counters) count(r *round) {
	c.groups.Add(1)
	c.changes.Add(int64(len(r.undo)))
	for i := range r.events {
		c.transitions[r.events[i].Event].Add(1)
	}
}

// Stats are counts for metrics.
type Stats struct {
	Semaphores  int
	Tasks       int
	Waiting     int              // of the tasks
	Bytes       int64            // as Manager.Bytes
	Groups      int64            // of the log, since the start
	Changes     int64            // single steps in them
	Transitions map[string]int64 // since the start, by the name of the event
}

// Bytes is about what semaphores and tasks take in memory.
func (m *Manager) Bytes() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.table.bytes
}

// Stats counts.
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
