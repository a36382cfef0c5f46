package keyspace

import (
	"fmt"
	"io"

	"go.etcd.io/etcd/pkg/v3/traceutil"
	"go.etcd.io/etcd/server/v3/lease"
)

// Freeze returns the state after the last Apply: about how many bytes it takes, and what writes it.
// write runs beside later changes, once at most, and is given up by the next Freeze if it did not
// begin. docs/format/keyspace.md has the bytes.
func (s *Store) Freeze() (size int64, write func(io.Writer) error) {
	if err := s.Err(); err != nil {
		return 0, func(io.Writer) error { return err } // what comes after the entry that was not applied must not count as held
	}
	if s.frozen != nil {
		s.frozen.Release()
	}
	f := s.b.Freeze(s.Index())
	s.frozen = f
	return f.Size(), f.Write
}

// Restore puts the state that a Freeze wrote. It comes before any Apply.
func (s *Store) Restore(r io.Reader) error {
	s.applyMu.Lock()
	defer s.applyMu.Unlock()
	index, err := s.b.Load(r)
	if err != nil {
		return fmt.Errorf("keyspace: read the checkpoint: %w", err)
	}
	// Leases first: the store attaches its keys to them.
	s.le.Recover(s.b, func() lease.TxnDelete { return s.kv.Write(traceutil.TODO()) })
	if err := s.kv.Restore(s.b); err != nil {
		return fmt.Errorf("keyspace: read the checkpoint: %w", err)
	}
	s.grants.Recover(s.b)
	s.applied.Store(index)
	return s.ready()
}
