package keyspace

import (
	"context"
	"errors"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	etcderrors "go.etcd.io/etcd/server/v3/etcdserver/errors"
)

// ErrNotRecorded means that the change of an Exclusive did not get into the log: the keys are
// unchanged.
var ErrNotRecorded = errors.New("keyspace: the change was not recorded")

// Exclusive makes a change together with something outside of the store. look runs while no other
// change is in flight and none can begin: what it reads remains valid until the change is applied.
// It returns the change, or nil for none. A change that roles, alarms or the quota would refuse is
// refused at this point, with etcd's error and before anything is recorded. record makes the entry
// durable through the same log, together with whatever else belongs to it; without a change the
// entry is nil. Exclusive returns the result of the change. Neither function may propose anything
// to the store.
//
// Errors of look and record are returned unchanged. After an error of record only the log knows
// whether the change is applied. record returns nil when the change is applied, as the broker's
// Record and DoAll do. If it returns nil although the change did not get into the log, the error is
// ErrNotRecorded.
func (s *Store) Exclusive(ctx context.Context, look func() (*pb.InternalRaftRequest, error), record func(entry []byte) error) (*Result, error) {
	x, err := s.exclusive(ctx, look, record)
	if errors.Is(err, etcderrors.ErrNoSpace) && len(s.alarmsOf(pb.AlarmType_NOSPACE)) == 0 {
		s.raiseNoSpace()
	}
	return x, err
}

func (s *Store) exclusive(ctx context.Context, look func() (*pb.InternalRaftRequest, error), record func(entry []byte) error) (*Result, error) {
	s.gate.Lock()
	defer s.gate.Unlock()
	r, err := look()
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, record(nil)
	}
	if err := s.refusal(ctx, r); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	answer := make(chan *Result, 1)
	entry, id, err := s.entry(r.Header, r, waiter{exclusive: true, tell: func(x *Result) { answer <- x }})
	if err != nil {
		return nil, err
	}
	if err := record(entry); err != nil {
		s.waiters.take(id)
		return nil, err
	}
	select {
	case x := <-answer:
		return failed(x)
	default:
		s.waiters.take(id)
		return nil, ErrNotRecorded
	}
}

// refusal returns the error with which a change would be refused as a whole when it is applied: by
// the roles, an alarm or the quota. That would be too late for what is done together with it. The
// caller ensures that nothing is proposed in between.
func (s *Store) refusal(ctx context.Context, r *pb.InternalRaftRequest) error {
	r.Header = requestHeader(ctx)
	if err := s.grants.Allow(r, s.etcd().le); err != nil {
		return err
	}
	if len(s.alarmsOf(pb.AlarmType_CORRUPT)) > 0 {
		return etcderrors.ErrCorrupt
	}
	request := grows(r)
	if request == nil || s.quota.Cost(request) == 0 {
		return nil
	}
	if len(s.alarmsOf(pb.AlarmType_NOSPACE)) > 0 || !s.quota.Available(request) {
		return etcderrors.ErrNoSpace
	}
	return nil
}

// grows returns the request if it may need space, or nil if the quota does not apply to it.
func grows(r *pb.InternalRaftRequest) any {
	switch {
	case r.Put != nil:
		return r.Put
	case r.Txn != nil:
		return r.Txn
	case r.LeaseGrant != nil:
		return r.LeaseGrant
	}
	return nil
}
