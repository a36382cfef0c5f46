package semaphores

import (
	"sync"
	"time"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/semaphore"
)

// clock starts rounds that no caller requested: a lease has ended, or a batch had no room for all
// transitions.
type clock struct {
	wake     chan struct{} // capacity 1
	quit     chan struct{}
	stopped  chan struct{}
	started  bool // guarded by Manager.mu
	stopping sync.Once
}

// ring requests a round.
func (c *clock) ring() {
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// setClock sets the clock to the first end of a lease. The caller holds m.mu.
func (m *Manager) setClock() {
	if first := m.table.ends.first(); first < m.alarm {
		m.alarm = first
		m.clock.ring()
	}
}

// run is the goroutine of the clock.
func (m *Manager) run() {
	defer close(m.clock.stopped)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		wait, due, failed := m.next()
		if failed {
			return
		}
		if due {
			m.execute(&request{work: func(*round) {}}) // each round does everything that is due
			continue
		}
		timer.Reset(wait)
		select {
		case <-timer.C:
		case <-m.clock.wake:
		case <-m.clock.quit:
			return
		}
	}
}

// next returns how long the clock may sleep. failed reports that the manager has stopped.
func (m *Manager) next() (wait time.Duration, due, failed bool) {
	select {
	case <-m.clock.quit:
		return 0, false, true
	default:
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	first := m.table.ends.first()
	m.alarm = first
	wait = min(time.UnixMilli(first).Sub(m.o.Now()), time.Hour)
	return wait, len(m.table.due) > 0 || first != noEnd && wait <= 0, m.failed != nil
}

// Stop ends the manager's own activity: no further transitions follow earlier changes. It must be
// called before the broker closes.
func (m *Manager) Stop() {
	m.clock.stopping.Do(func() { close(m.clock.quit) })
	m.mu.Lock()
	started := m.clock.started
	m.mu.Unlock()
	if started {
		<-m.clock.stopped
	}
}

// Stopped returns a channel that is closed when Stop begins. Goroutines that wait for a transition
// then give up.
func (m *Manager) Stopped() <-chan struct{} { return m.clock.quit }

// begin restarts the leases of running tasks, and applies the rule where a crash may have
// interrupted a change between batches of the log. The caller holds m.mu.
func (m *Manager) begin() {
	now := m.o.Now().UnixMilli()
	for _, s := range m.table.sorted() {
		if !m.b.HasVHost(s.vhost) {
			m.table.later(s) // deleted, but not all tasks were removed
		}
		m.table.settle(s)
		m.table.begin(s, now)
		m.table.ends.set(s, s.state.NextEnd())
		if _, more := s.state.Next(); more || s.deleted {
			m.table.later(s)
		}
	}
}

// begin restarts the leases of running tasks.
func (t *table) begin(s *sem, now int64) {
	type end struct {
		task   string
		status semaphore.Status
		until  int64
	}
	var ends []end
	for _, task := range s.state.Of(1, semaphore.Acquired, semaphore.TryRelease) {
		if lease := s.lease(&task); lease > 0 {
			ends = append(ends, end{task.ID, task.Status, now + lease})
		}
	}
	for _, e := range ends {
		t.setStatus(s, e.task, e.status, e.until)
	}
}

// EndOwners removes all tasks of owners, in all virtual hosts, with the event Expired.
func (m *Manager) EndOwners(owners ...int64) error {
	if err := m.ready(); err != nil {
		return err
	}
	for len(owners) > 0 {
		err := m.execute(&request{work: func(r *round) {
			for len(owners) > 0 && !r.endOwner(owners[0]) {
				owners = owners[1:]
			}
		}})
		if err != nil {
			return err
		}
	}
	return nil
}

// endOwner removes as many tasks of an owner as the batch can take. more reports whether some are
// left.
func (r *round) endOwner(owner int64) (more bool) {
	for s := range r.m.table.owners[owner] { // a semaphore leaves the map with its last task
		for _, id := range s.state.Owned(owner, r.m.most-r.transitions) {
			if r.full() {
				break
			}
			r.transition(s, id, semaphore.EventExpired)
		}
		if r.m.table.owners[owner][s] > 0 {
			r.m.table.later(s)
			return true
		}
		r.settle(s)
	}
	return false
}

// vhostDeleted schedules the removal of the semaphores of a virtual host.
func (m *Manager) vhostDeleted(vhost catalog.VHostID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.table.byID {
		if s.vhost == vhost {
			m.table.later(s)
		}
	}
	m.watchers.leave(vhost)
	m.clock.ring()
}
