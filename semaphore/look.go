package semaphore

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	mostLooked = 1000                  // tasks per request
	lookAgain  = 50 * time.Millisecond // first delay after a failed read; doubled each time
	lookSlow   = 2 * time.Second       // maximum delay
)

// hint schedules a read of a place because of an event. It does not block.
func (m *Manager) hint(p *place, k Kind) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch k {
	case EventReleased, EventExpired, EventDeleted:
		p.gone = k
	case EventEnqueued, EventAcquired, EventMissed:
		p.gone = ""
	}
	m.ask(p)
}

// ask schedules a read of a place. The caller holds mu.
func (m *Manager) ask(p *place) {
	if p.hinted || p.users == 0 || m.closed.Err() != nil {
		return
	}
	p.hinted = true
	m.hints = append(m.hints, p)
	if !m.looking {
		m.looking = true
		m.busy.Go(m.lookAll)
	}
}

const (
	sooner  = 8 // at least this many attempts fit into the rest of a lease
	soonest = 10 * time.Millisecond
)

// before shortens a delay if a lease that must be renewed ends soon: a broker that comes back just
// in time must be reached in time.
func (m *Manager) before(pause time.Duration) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.hints {
		if !p.until.IsZero() {
			pause = min(pause, max(time.Until(p.until)/sooner, soonest))
		}
	}
	return pause
}

// lookAll reads places until there are no hints.
func (m *Manager) lookAll() {
	for pause := lookAgain; ; {
		batch := m.take()
		if batch == nil {
			return
		}
		failed := false
		for key, places := range batch.byKey {
			for len(places) > 0 {
				n := min(len(places), mostLooked)
				failed = !m.lookAt(key, places[:n], batch.number) || failed
				places = places[n:]
			}
		}
		if !failed {
			pause = lookAgain
			continue
		}
		select {
		case <-time.After(m.before(pause)):
		case <-m.closed.Done():
		}
		pause = min(2*pause, lookSlow)
	}
}

// batch holds the places of one read, by semaphore.
type batch struct {
	number uint64
	byKey  map[string][]*place
}

// take takes the hints. It returns nil if there are none, which ends lookAll.
func (m *Manager) take() *batch {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.hints) == 0 || m.closed.Err() != nil {
		m.looking, m.hints = false, nil
		return nil
	}
	m.looks++
	b := &batch{m.looks, map[string][]*place{}}
	for _, p := range m.hints {
		p.hinted = false
		if p.users > 0 {
			b.byKey[p.name.key] = append(b.byKey[p.name.key], p)
		}
	}
	m.hints = nil
	return b
}

// lookAt renews leases that are due, reads places of one semaphore, and notifies their holds. It
// returns false if the broker could not be reached.
func (m *Manager) lookAt(key string, places []*place, number uint64) bool {
	ctx, cancel := context.WithTimeout(m.closed, lookFor)
	defer cancel()
	asked := time.Now()
	tasks, err := m.renewAndLook(ctx, key, places)
	var over []func()
	m.mu.Lock()
	for i, p := range places {
		switch {
		case errors.Is(err, ErrNotFound):
			over = append(over, m.told(p, Task{}, ErrDeleted, number)...)
		case errors.Is(err, ErrDenied), errors.Is(err, ErrClosed): // permissions lost, or the broker stops
			over = append(over, m.empty(p, err)...)
		case err != nil:
			m.ask(p)
		default:
			p.lease(m, asked, tasks[i].Left)
			over = append(over, m.told(p, tasks[i], p.why(), number)...)
		}
	}
	m.mu.Unlock()
	for _, end := range over {
		end()
	}
	return err == nil || errors.Is(err, ErrNotFound) || errors.Is(err, ErrDenied) || errors.Is(err, ErrClosed)
}

func (m *Manager) renewAndLook(ctx context.Context, key string, places []*place) ([]Task, error) {
	names := make([]string, len(places))
	var renew []string
	m.mu.Lock()
	for i, p := range places {
		if names[i] = p.name.task; p.renew {
			renew = append(renew, p.name.task)
		}
	}
	m.mu.Unlock()
	if len(renew) > 0 {
		if _, err := m.backend.Renew(ctx, key, renew); err != nil {
			return nil, err
		}
	}
	tasks, err := m.look(ctx, key, names)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range places {
		p.renew = false
	}
	return tasks, nil
}

// look returns the state of tasks.
func (m *Manager) look(ctx context.Context, key string, tasks []string) ([]Task, error) {
	all, err := m.backend.Look(ctx, key, tasks)
	if err == nil && len(all) != len(tasks) {
		err = fmt.Errorf("semaphore: the answer has %d tasks, want %d", len(all), len(tasks))
	}
	return all, err
}

// told notifies the holds of a place of the task's state. why is the reason if the task no longer
// exists. The caller must call the returned functions after releasing mu, which it holds.
func (m *Manager) told(p *place, t Task, why error, number uint64) (over []func()) {
	for h := range p.holds {
		switch {
		case number <= h.after:
		case t.Status.Runs():
			h.run()
			if t.Status == TryRelease {
				over = append(over, func() { h.cancel(ErrTryRelease) })
			}
		case t.Status == None, h.ran: // ran before: released and enqueued again
			over = append(over, m.end(p, h, why))
		}
	}
	return over
}

// why returns the reason why the task no longer exists. The caller holds Manager.mu.
func (p *place) why() error {
	switch p.gone {
	case EventExpired:
		return ErrExpired
	case EventDeleted:
		return ErrDeleted
	}
	return ErrReleased
}
