package semaphores

import (
	"context"
	"errors"
	"log/slog"

	"fiveways.dev/fiveways/internal/core/failure"
)

// logLine is a log line that is written when the round is durable.
type logLine struct {
	what string
	s    *sem
	user string
}

// log records which user did what to a semaphore. It is for debugging: a program may create one per
// job.
func (r *round) log(what string, s *sem) {
	if r.m.log.Enabled(context.Background(), slog.LevelDebug) {
		r.lines = append(r.lines, logLine{what, s, r.user()})
	}
}

// writeLog writes the recorded log lines.
func (r *round) writeLog() {
	for _, l := range r.lines {
		r.m.log.Debug(l.what, "vhost", l.s.vhost.Name, "semaphore", l.s.key, "user", l.user)
	}
}

// fail records that the manager can no longer make changes. The caller holds m.mu.
func (m *Manager) fail(err error) {
	if m.failed != nil {
		return
	}
	if !errors.Is(err, failure.ErrClosed) {
		m.log.Error("semaphores stopped: the log failed", "err", err)
	}
	m.failed = err
	close(m.dead)
}

// ready returns nil if the manager accepts changes.
func (m *Manager) ready() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.b == nil {
		return failure.ErrClosed
	}
	return m.failed
}
