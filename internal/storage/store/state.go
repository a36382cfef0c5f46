package store

import (
	"fmt"

	"fiveways.dev/fiveways/internal/storage/vfs"
)

// Health is the condition of a store's writes.
type Health uint8

const (
	Healthy Health = iota
	NoSpace        // the disk is full, or too many files are open: entries wait
	Failed         // a write or an fsync failed: nothing more is written
)

func (h Health) String() string {
	switch h {
	case Healthy:
		return "healthy"
	case NoSpace:
		return "no space"
	case Failed:
		return "failed"
	}
	return fmt.Sprintf("Health(%d)", uint8(h))
}

// State is the health of a store and, unless it is healthy, the error behind it.
type State struct {
	Health Health
	Err    error
}

// State returns the current state.
func (s *Store) State() State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// Watch makes the store call fn on every later change of the state, on the writing goroutine.
func (s *Store) Watch(fn func(State)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers = append(s.watchers, fn)
}

// Retry makes a store without space retry at once.
func (s *Store) Retry() {
	select {
	case s.retry <- struct{}{}:
	default: // one is pending already
	}
}

func (s *Store) setState(st State) {
	s.mu.Lock()
	changed := s.state.Health != st.Health
	s.state = st
	watchers := s.watchers
	s.mu.Unlock()
	if !changed {
		return
	}
	switch log := s.opts.Logger; st.Health {
	case Healthy:
		log.Info("store: the disk has room again; writes continue", "dir", s.dir)
	case NoSpace:
		lack := "the disk is full; writes wait until there is room"
		if vfs.IsOutOfFiles(st.Err) {
			lack = "too many files are open; writes wait until another one can be opened"
		}
		log.Warn("store: "+lack, "dir", s.dir, "err", st.Err)
	case Failed:
		log.Error("store: a write of the log failed; nothing is written until the broker is restarted", "dir", s.dir, "err", st.Err)
	}
	for _, fn := range watchers {
		fn(st)
	}
}
