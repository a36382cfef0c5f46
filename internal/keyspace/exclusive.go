package keyspace

import (
	"context"
	"errors"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// ErrNotRecorded means that the change of an Exclusive was kept out of the log: nothing happened to the keys.
var ErrNotRecorded = errors.New("keyspace: the change was not recorded")

// Exclusive makes a change together with something outside of the store. look runs while no other change is on its way and none can begin: what it
// reads stays true until the change is applied. It returns the change, nil for none. record then makes the entry durable, with whatever else belongs
// to it, through the same log; nil when there is no change. The result is that of the change. Neither may propose anything to the store.
//
// Errors of look and record are returned as they are; after one of record only the log knows whether the change is applied. record returns nil when the
// change is applied, as the broker's Record and DoAll do; when it is not, as with a Note that was kept out, the error is ErrNotRecorded.
func (s *Store) Exclusive(ctx context.Context, look func() (*pb.InternalRaftRequest, error), record func(entry []byte) error) (*Result, error) {
	s.gate.Lock()
	defer s.gate.Unlock()
	r, err := look()
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, record(nil)
	}
	answer := make(chan *Result, 1)
	entry, id, err := s.entry(ctx, r, waiter{exclusive: true, tell: func(x *Result) { answer <- x }})
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
