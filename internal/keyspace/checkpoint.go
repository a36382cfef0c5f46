package keyspace

import (
	"fmt"
	"io"

	"go.etcd.io/etcd/pkg/v3/traceutil"
	"go.etcd.io/etcd/server/v3/lease"
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

// Restore restores the state that a Freeze wrote. It must be called before Apply.
func (s *Store) Restore(r io.Reader) error {
	s.applyMu.Lock()
	defer s.applyMu.Unlock()
	index, err := s.b.Load(r)
	if err != nil {
		return fmt.Errorf("keyspace: read the checkpoint: %w", err)
	}
	// Leases first: restoring the store attaches its keys to them.
	s.le.Recover(s.b, func() lease.TxnDelete { return s.kv.Write(traceutil.TODO()) })
	if err := s.kv.Restore(s.b); err != nil {
		return fmt.Errorf("keyspace: read the checkpoint: %w", err)
	}
	s.grants.Recover(s.b)
	s.applied.Store(index)
	return s.ready()
}
