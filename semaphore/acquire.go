package semaphore

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// name names a task.
type name struct{ key, task string }

// place is what is known of a task that is acquired here. Events are only hints: after each the
// task is looked at, so that it does not matter whether one is lost, comes twice, or comes late.
type place struct {
	name  name
	ready chan struct{} // closed when it is watched, or cannot be
	stop  func()        // ends the watching; set before ready is closed
	err   error         // why it cannot be watched; set before ready is closed

	// The rest is guarded by Manager.mu.
	users   int // acquires that wait or hold; without any the place is dropped
	holds   map[*hold]struct{}
	hinted  bool
	renew   bool      // its lease is to be renewed before it is looked at
	gone    Kind      // what took it out of the line last
	until   time.Time // its lease ends; zero: never
	renewAt time.Time
	timer   *time.Timer // for the sooner of both; nil: none was needed yet
}

// hold is one acquire, from the moment at which the task is in line.
type hold struct {
	ctx    context.Context // what the caller gets
	cancel context.CancelCauseFunc
	after  uint64        // looks up to this one are not about it
	runs   chan struct{} // closed when the task runs
	ran    bool          // runs is closed
	unbind func() bool   // forgets that the end of the caller's context ends the hold
}

const (
	releaseFor = 5 * time.Second  // maximum duration of a release in the background
	lookFor    = 30 * time.Second // as any question: the broker's disk may be busy
	watchFor   = 30 * time.Second
)

// acquire does Acquire.
func (m *Manager) acquire(ctx context.Context, n name, e Entry) (context.Context, error) {
	p, err := m.join(ctx, n)
	if err != nil {
		return nil, err
	}
	statuses, err := m.backend.Enqueue(ctx, n.key, []Entry{e})
	if err == nil && len(statuses) != 1 {
		err = fmt.Errorf("semaphore: %d statuses of one task", len(statuses))
	}
	if err != nil {
		m.leave(p, nil)
		if ctx.Err() != nil {
			return nil, m.giveUp(ctx, n)
		}
		return nil, err
	}
	h := &hold{runs: make(chan struct{})}
	h.ctx, h.cancel = context.WithCancelCause(ctx)
	if !m.add(ctx, p, h, statuses[0]) {
		h.cancel(ErrClosed)
		return nil, ErrClosed
	}
	select {
	case <-h.runs:
		return h.ctx, nil
	case <-h.ctx.Done():
	}
	select {
	case <-h.runs:
		return h.ctx, nil
	default:
	}
	if ctx.Err() != nil {
		m.leave(p, h)
		return nil, m.giveUp(ctx, n)
	}
	return nil, context.Cause(h.ctx)
}

// giveUp takes a task out of the line, for ctx has ended, and returns why.
func (m *Manager) giveUp(ctx context.Context, n name) error {
	why := context.Cause(ctx)
	if m.shared(n) {
		return why
	}
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseFor)
	defer cancel()
	if _, err := m.backend.Release(limited, n.key, []string{n.task}); err != nil && !errors.Is(err, ErrNotFound) {
		return fmt.Errorf("%w; the task may still be enqueued: %w", why, err)
	}
	return why
}

// shared reports whether another call in this manager acquires the task.
func (m *Manager) shared(n name) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.places[n] != nil
}

// join finds the place of a task, which is watched from then on, and counts one more user.
func (m *Manager) join(ctx context.Context, n name) (*place, error) {
	m.mu.Lock()
	if err := m.ended(ctx); err != nil {
		m.mu.Unlock()
		return nil, err
	}
	p := m.places[n]
	if p == nil {
		p = &place{name: n, ready: make(chan struct{}), holds: map[*hold]struct{}{}}
		m.places[n] = p
		m.busy.Go(func() { m.watch(p) })
	}
	p.users++
	m.mu.Unlock()
	err := error(nil)
	select {
	case <-p.ready:
		err = p.err
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if err == nil {
		return p, nil
	}
	m.leave(p, nil)
	if m.closed.Err() != nil {
		err = ErrClosed
	}
	return nil, err
}

// watch begins to watch a place.
func (m *Manager) watch(p *place) {
	ctx, cancel := context.WithTimeout(m.closed, watchFor)
	defer cancel()
	stop, err := m.backend.Follow(ctx, p.name.key, p.name.task, func(k Kind) { m.hint(p, k) })
	m.mu.Lock()
	p.stop, p.err = stop, err
	if err != nil && m.places[p.name] == p {
		delete(m.places, p.name) // the next one tries again
	}
	dropped := m.places[p.name] != p
	close(p.ready)
	m.mu.Unlock()
	if dropped && stop != nil {
		stop()
	}
}

// add makes h a hold of p until ctx ends; the broker has told the status s. It is false when the
// manager has closed.
func (m *Manager) add(ctx context.Context, p *place, h *hold, s Status) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed.Err() != nil {
		return false
	}
	h.after = m.looks
	h.unbind = context.AfterFunc(ctx, func() { m.leave(p, h) })
	p.holds[h] = struct{}{}
	if s.Runs() {
		h.run()
	}
	m.ask(p)
	return true
}

// run notes that the task runs. Manager.mu is held.
func (h *hold) run() {
	if !h.ran {
		h.ran = true
		close(h.runs)
	}
}

// leave removes a user, with its hold if there is one.
func (m *Manager) leave(p *place, h *hold) {
	m.mu.Lock()
	if h != nil {
		if _, ok := p.holds[h]; !ok {
			m.mu.Unlock()
			return // it has ended otherwise
		}
		delete(p.holds, h)
	}
	stop := m.drop(p)
	m.mu.Unlock()
	if h != nil {
		h.unbind()
		h.cancel(nil)
	}
	stop()
}

// drop counts a user less; the last one ends the place, with what it returns. mu is held.
func (m *Manager) drop(p *place) (stop func()) {
	if p.users--; p.users > 0 {
		return func() {}
	}
	if p.timer != nil {
		p.timer.Stop()
	}
	if m.places[p.name] == p {
		delete(m.places, p.name)
	}
	if p.stop == nil {
		return func() {} // it is not watched, or watch will see that it was dropped
	}
	return p.stop
}

// empty ends all holds of a place, with what it returns. mu is held.
func (m *Manager) empty(p *place, why error) (over []func()) {
	for h := range p.holds {
		over = append(over, m.end(p, h, why))
	}
	return over
}

// end ends a hold, with what it returns. mu is held.
func (m *Manager) end(p *place, h *hold, why error) (over func()) {
	delete(p.holds, h)
	stop := m.drop(p)
	return func() {
		h.unbind()
		h.cancel(why)
		stop()
	}
}

// forget ends the holds of tasks that are released here.
func (m *Manager) forget(key string, tasks []string) {
	m.mu.Lock()
	var over []func()
	for _, t := range tasks {
		if p := m.places[name{key, t}]; p != nil {
			over = append(over, m.empty(p, ErrReleased)...)
		}
	}
	m.mu.Unlock()
	for _, end := range over {
		end()
	}
}
