package keyspace

import (
	"errors"
	"fmt"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/etcdserver/api/membership"
	"go.etcd.io/etcd/server/v3/etcdserver/apply"
	"google.golang.org/protobuf/proto"
)

// slowApply is how long a change may take before etcd's code warns.
const slowApply = 100 * time.Millisecond

// ErrEntry means that an entry of the log is not a change that this version knows. No later entry
// is applied.
var ErrEntry = errors.New("keyspace: an entry of the log cannot be read")

// Apply applies the change of a durable entry and notifies its waiter. Entries come in log order,
// from one goroutine. After an unreadable entry nothing is applied; Start reports that.
func (s *Store) Apply(index uint64, entry []byte) {
	if err := s.failure.Load(); err != nil {
		s.waiters.failAll(*err) // waiters that were added since
		return
	}
	r := new(pb.InternalRaftRequest)
	err := proto.Unmarshal(entry, r)
	if err == nil && !known(r) {
		err = errors.New("no request in it")
	}
	if err != nil {
		s.fail(fmt.Errorf("%w: entry %d: %w", ErrEntry, index, err))
		return
	}
	waiter := s.waiters.take(r.ID)
	result := s.do(r, waiter == nil)
	s.applied.Store(index)
	if r.LeaseRevoke != nil && result.Err == nil {
		s.leases.gone(r.LeaseRevoke.ID)
	}
	s.tell(waiter, result)
}

// do executes a request with etcd's appliers. silent means that the answer is not used, so it may
// be incomplete.
func (s *Store) do(r *pb.InternalRaftRequest, silent bool) *Result {
	s.applyMu.Lock()
	defer s.applyMu.Unlock()
	if r.ClusterMemberAttrSet != nil {
		s.applyIdentity(r.ClusterMemberAttrSet)
		return &Result{}
	}
	e := s.etcd()
	if err := s.grants.Allow(r, e.le); err != nil {
		return &Result{Err: err}
	}
	if resp, err, ok := s.grants.Apply(r); ok {
		return &Result{Resp: resp, Err: err}
	}
	w := &apply.InternalRaftRequestWrapper{InternalRaftRequest: r, SkipRangeExecution: silent && r.Txn != nil}
	return e.applier.Apply(w, membership.ApplyBoth)
}

func (s *Store) fail(err error) {
	s.failure.CompareAndSwap(nil, &err)
	s.lg.Error(err.Error())
	s.waiters.failAll(err)
}

// Err returns why the store no longer applies entries, or nil while it does.
func (s *Store) Err() error {
	if err := s.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// known reports whether do knows the change.
func known(r *pb.InternalRaftRequest) bool {
	for _, set := range []bool{
		r.Put != nil, r.DeleteRange != nil, r.Txn != nil, r.Compaction != nil,
		r.LeaseGrant != nil, r.LeaseRevoke != nil, r.LeaseCheckpoint != nil, r.Alarm != nil, r.ClusterMemberAttrSet != nil,
		r.AuthEnable != nil, r.AuthDisable != nil, r.AuthUserAdd != nil, r.AuthUserDelete != nil, r.AuthUserChangePassword != nil,
		r.AuthUserGrantRole != nil, r.AuthUserRevokeRole != nil, r.AuthRoleAdd != nil, r.AuthRoleDelete != nil,
		r.AuthRoleGrantPermission != nil, r.AuthRoleRevokePermission != nil,
	} {
		if set {
			return true
		}
	}
	return false
}
