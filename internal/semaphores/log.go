package semaphores

import (
	"context"
	"errors"
	"log/slog"

	"fiveways/internal/broker"
)

// line of the log that is written when the round is durable.
type logLine struct {
	what string
	s    *sem
	user string
}

// log notes who did something to a semaphore. It is for debugging: a program may make one for each of its jobs.
func (r *round) log(what string, s *sem) {
	if r.m.log.Enabled(context.Background(), slog.LevelDebug) {
		r.lines = append(r.lines, logLine{what, s, r.user()})
	}
}

// writeLog writes what was noted.
func (r *round) writeLog() {
	for _, l := range r.lines {
		r.m.log.Debug(l.what, "vhost", l.s.vhost.Name, "semaphore", l.s.key, "user", l.user)
	}
}

// fail notes that nothing can be changed any more. m.mu is held.
func (m *Manager) fail(err error) {
	if m.failed != nil {
		return
	}
	if !errors.Is(err, broker.ErrClosed) {
		m.log.Error("semaphores stand still", "err", err)
	}
	m.failed = err
	close(m.dead)
}

// ready tells whether it takes changes.
func (m *Manager) ready() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.b == nil {
		return broker.ErrClosed
	}
	return m.failed
}
