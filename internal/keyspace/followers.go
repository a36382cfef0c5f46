package keyspace

import (
	"slices"
	"sync"

	"go.etcd.io/etcd/server/v3/lease"
)

// followers are the users of leases outside of the keys. None of it is recorded: each attaches its
// things to a lease again after a start.
type followers struct {
	mu   sync.Mutex
	told []func(id int64)
}

// OnLeaseGone has f called after a lease ended, by time or revoked. It runs while entries are
// applied: it must neither block nor propose.
func (s *Store) OnLeaseGone(f func(id int64)) {
	s.leases.mu.Lock()
	defer s.leases.mu.Unlock()
	s.leases.told = append(s.leases.told, f)
}

// LeaseExists reports whether there is a lease.
func (s *Store) LeaseExists(id int64) bool { return s.le.Lookup(lease.LeaseID(id)) != nil }

// gone says that a lease ended.
func (f *followers) gone(id int64) {
	f.mu.Lock()
	told := slices.Clone(f.told)
	f.mu.Unlock()
	for _, f := range told {
		f(id)
	}
}
