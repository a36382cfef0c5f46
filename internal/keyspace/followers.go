package keyspace

import (
	"maps"
	"slices"
	"sync"

	"go.etcd.io/etcd/server/v3/lease"
)

// followers are those outside of the keys whose things hang on leases. None of it is recorded: whoever hangs something on a lease does so again after
// a start.
type followers struct {
	mu   sync.Mutex
	told []func(id int64)
	keys map[int64]map[string]bool // that are shown with a lease and are no keys of the store; only of leases that are there
}

// OnLeaseGone has f called after a lease ended, by time or revoked. It runs while entries are applied: it must neither block nor propose.
func (s *Store) OnLeaseGone(f func(id int64)) {
	s.leases.mu.Lock()
	defer s.leases.mu.Unlock()
	s.leases.told = append(s.leases.told, f)
}

// LeaseExists tells whether there is a lease.
func (s *Store) LeaseExists(id int64) bool { return s.le.Lookup(lease.LeaseID(id)) != nil }

// AttachKey shows a key that is not one of the store's among those of a lease, until DetachKey or the end of the lease. It is not hung on etcd's lease:
// what is not in the log must not count when entries are applied. Errors: lease.ErrLeaseNotFound.
func (s *Store) AttachKey(id int64, key []byte) error {
	f := &s.leases
	f.mu.Lock()
	defer f.mu.Unlock()
	if !s.LeaseExists(id) { // if it goes from now on, gone comes later
		return lease.ErrLeaseNotFound
	}
	if f.keys == nil {
		f.keys = make(map[int64]map[string]bool)
	}
	if f.keys[id] == nil {
		f.keys[id] = make(map[string]bool)
	}
	f.keys[id][string(key)] = true
	return nil
}

// DetachKey undoes AttachKey. A key or lease that is not there is no error.
func (s *Store) DetachKey(id int64, key []byte) {
	f := &s.leases
	f.mu.Lock()
	defer f.mu.Unlock()
	if delete(f.keys[id], string(key)); len(f.keys[id]) == 0 {
		delete(f.keys, id)
	}
}

// attached returns the keys of AttachKey.
func (f *followers) attached(id int64) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.keys[id]))
}

// gone says that a lease ended.
func (f *followers) gone(id int64) {
	f.mu.Lock()
	delete(f.keys, id)
	told := slices.Clone(f.told)
	f.mu.Unlock()
	for _, f := range told {
		f(id)
	}
}
