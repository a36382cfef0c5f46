package keyspace

import (
	"slices"
	"sync"

	"go.etcd.io/etcd/server/v3/lease"
)

// followers are notified of the ends of leases, for uses outside of the keys. Nothing of this is
// recorded: after a start each user attaches its objects to leases again.
type followers struct {
	mu   sync.Mutex
	told []func(id int64)
}

// OnLeaseGone registers f, which is called after a lease has expired or was revoked. It runs while
// entries are applied: it must neither block nor propose.
func (s *Store) OnLeaseGone(f func(id int64)) {
	s.leases.mu.Lock()
	defer s.leases.mu.Unlock()
	s.leases.told = append(s.leases.told, f)
}

// LeaseExists reports whether a lease exists.
func (s *Store) LeaseExists(id int64) bool { return s.etcd().le.Lookup(lease.LeaseID(id)) != nil }

// gone reports the end of a lease to the followers.
func (f *followers) gone(id int64) {
	f.mu.Lock()
	told := slices.Clone(f.told)
	f.mu.Unlock()
	for _, f := range told {
		f(id)
	}
}
