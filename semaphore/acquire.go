package semaphore

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// name names a task.
type name struct{ key, task string }

// place is the local state of a task that is acquired here. Events are only hints: after each event
// the task's status is read, so lost, duplicate or late events do no harm.
type place struct {
	name  name
	ready chan struct{} // closed when the task is watched or the watch has failed
	stop  func()        // stops the watch; set before ready is closed
	err   error         // why the watch has failed; set before ready is closed

	// The fields below are guarded by Manager.mu.
	users   int // acquires that wait or hold; without any the place is dropped
	holds   map[*hold]struct{}
	hinted  bool
	renew   bool      // the lease must be renewed before the next read
	gone    Kind      // the last event that removed the task
	until   time.Time // end of the lease; zero: never
	renewAt time.Time
	timer   *time.Timer // for the earlier of until and renewAt; nil: never needed
}

// hold is one acquire, from the moment when the task is enqueued.
type hold struct {
	ctx    context.Context // returned to the caller
	cancel context.CancelCauseFunc
	after  uint64        // reads with this number or a lower one do not concern it
	runs   chan struct{} // closed when the task runs
	ran    bool          // runs is closed
	unbind func() bool   // unregisters the end of the caller's context
}

const (
	releaseFor = 5 * time.Second  // maximum duration of a release in the background
	lookFor    = 30 * time.Second // like any request: the broker's disk may be busy
	watchFor   = 30 * time.Second
)

// acquire implements Acquire.
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

// giveUp removes a task because ctx has ended, and returns the cause.
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

// join returns the place of a task, which is watched from then on, and adds a user to it.
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

// watch starts the watch of a place.
func (m *Manager) watch(p *place) {
	ctx, cancel := context.WithTimeout(m.closed, watchFor)
	defer cancel()
	stop, err := m.backend.Follow(ctx, p.name.key, p.name.task, func(k Kind) { m.hint(p, k) })
	m.mu.Lock()
	p.stop, p.err = stop, err
	if err != nil && m.places[p.name] == p {
		delete(m.places, p.name) // the next call tries again
	}
	dropped := m.places[p.name] != p
	close(p.ready)
	m.mu.Unlock()
	if dropped && stop != nil {
		stop()
	}
}

// add makes h a hold of p until ctx ends. s is the status that the broker returned. It returns
// false if the manager is closed.
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

// run records that the task runs. The caller holds Manager.mu.
func (h *hold) run() {
	if !h.ran {
		h.ran = true
		close(h.runs)
	}
}

// leave removes a user, and its hold if there is one.
func (m *Manager) leave(p *place, h *hold) {
	m.mu.Lock()
	if h != nil {
		if _, ok := p.holds[h]; !ok {
			m.mu.Unlock()
			return // the hold has already ended
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

// drop removes a user. If it was the last one, the place is removed, and the caller must call stop.
// The caller holds mu.
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
		return func() {} // it is not watched, or watch will notice the removal
	}
	return p.stop
}

// empty ends all holds of a place. The caller must call the returned functions after releasing mu,
// which it holds.
func (m *Manager) empty(p *place, why error) (over []func()) {
	for h := range p.holds {
		over = append(over, m.end(p, h, why))
	}
	return over
}

// end ends a hold. The caller must call the returned function after releasing mu, which it holds.
func (m *Manager) end(p *place, h *hold, why error) (over func()) {
	delete(p.holds, h)
	stop := m.drop(p)
	return func() {
		h.unbind()
		h.cancel(why)
		stop()
	}
}

// forget ends the holds of tasks that this manager releases.
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
