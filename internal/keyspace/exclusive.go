package keyspace

import (
	"context"
	"errors"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	etcderrors "go.etcd.io/etcd/server/v3/etcdserver/errors"
)

// ErrNotRecorded means that the change of an Exclusive was kept out of the log: nothing happened to
// the keys.
var ErrNotRecorded = errors.New("keyspace: the change was not recorded")

// Exclusive makes a change together with something outside of the store. look runs while no other
// change is on its way and none can begin: what it reads stays true until the change is applied. It
// returns the change, nil for none. A change that roles, alarms or the quota would refuse is
// refused then, with etcd's error and before anything is recorded. record makes the entry durable,
// with whatever else belongs to it, through the same log; nil when there is no change. The result
// is that of the change. Neither may propose anything to the store.
//
// Errors of look and record are returned as they are; after one of record only the log knows
// whether the change is applied. record returns nil when the change is applied, as the broker's
// Record and DoAll do; when it is not, as with a Note that was kept out, the error is
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

// refusal is why a change would be refused as a whole when it is applied: by the roles, an alarm or
// the quota. Then it is too late for what is done together with it. The caller sees to it that
// nothing is proposed in between.
func (s *Store) refusal(ctx context.Context, r *pb.InternalRaftRequest) error {
	r.Header = requestHeader(ctx)
	if err := s.grants.Allow(r, s.le); err != nil {
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

// grows returns the request that may take room; nil when it is none of those the quota is for.
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
