package keyspace

import (
	"errors"
	"fmt"
	"io"
)

// Freeze returns the state after the last Apply: its approximate size in bytes, and a function that
// writes it. write may be called once, concurrently with later changes. The next Freeze discards it
// if it was not called. docs/format/keyspace.md describes the format.
func (s *Store) Freeze() (size int64, write func(io.Writer) error) {
	if err := s.Err(); err != nil {
		return 0, func(io.Writer) error { return err } // must not cover unapplied entries
	}
	if s.frozen != nil {
		s.frozen.Release()
	}
	f := s.b.Freeze(s.Index())
	s.frozen = f
	return f.Size(), f.Write
}

// Restore restores the state that a Freeze wrote. It must be called before Apply and before any
// read.
func (s *Store) Restore(r io.Reader) error {
	s.applyMu.Lock()
	defer s.applyMu.Unlock()
	if s.engine.Load() != nil {
		return errors.New("keyspace: a store that is in use cannot be restored")
	}
	index, err := s.b.Load(r)
	if err != nil {
		return fmt.Errorf("keyspace: read the checkpoint: %w", err)
	}
	s.createBuckets()
	s.grants.Recover(s.b)
	s.applied.Store(index)
	if err := s.readIdentity(); err != nil || !s.used() {
		return err
	}
	s.engineMu.Lock()
	defer s.engineMu.Unlock()
	return s.newEngine()
}
