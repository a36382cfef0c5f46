package keyspace

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/etcdserver/txn"
	"google.golang.org/protobuf/proto"

	"fiveways.dev/fiveways/internal/keyspace/grants"
)

// proposed proposes a change and returns its answer.
func proposed[T proto.Message](s *Store, ctx context.Context, r *pb.InternalRaftRequest) (answer T, err error) {
	x, err := s.Propose(ctx, r)
	if err == nil {
		err = x.Err
	}
	if err != nil {
		return answer, err
	}
	answer, _ = x.Resp.(T)
	return answer, nil
}

// Range reads keys. It sees every change that was answered.
func (s *Store) Range(ctx context.Context, r *pb.RangeRequest) (answer *pb.RangeResponse, err error) {
	err = s.permitted(ctx,
		func(who *grants.Info) error { return s.grants.MayRange(who, r.Key, r.RangeEnd) },
		func() error {
			answer, _, err = txn.Range(ctx, s.lg, s.etcd().kv, r, true)
			return err
		})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// Put writes a key.
func (s *Store) Put(ctx context.Context, r *pb.PutRequest) (*pb.PutResponse, error) {
	if err := s.room(r); err != nil {
		return nil, err
	}
	return proposed[*pb.PutResponse](s, ctx, &pb.InternalRaftRequest{Put: r})
}

// DeleteRange deletes keys.
func (s *Store) DeleteRange(ctx context.Context, r *pb.DeleteRangeRequest) (*pb.DeleteRangeResponse, error) {
	return proposed[*pb.DeleteRangeResponse](s, ctx, &pb.InternalRaftRequest{DeleteRange: r})
}

// Txn executes a transaction. A read-only one does not use the log.
func (s *Store) Txn(ctx context.Context, r *pb.TxnRequest) (*pb.TxnResponse, error) {
	if txn.IsTxnReadonly(r) {
		return s.readTxn(ctx, r)
	}
	if err := s.room(r); err != nil {
		return nil, err
	}
	return proposed[*pb.TxnResponse](s, ctx, &pb.InternalRaftRequest{Txn: r})
}

func (s *Store) readTxn(ctx context.Context, r *pb.TxnRequest) (answer *pb.TxnResponse, err error) {
	err = s.permitted(ctx,
		func(who *grants.Info) error { return s.grants.MayTxn(who, r, s.etcd().le) },
		func() error {
			e := s.etcd()
			answer, _, err = txn.Txn(ctx, s.lg, r, true, e.kv, e.le, false)
			return err
		})
	if err != nil {
		return nil, err
	}
	return answer, nil
}

// Compact discards the history before a revision. With Physical it returns when the memory is
// freed.
func (s *Store) Compact(ctx context.Context, r *pb.CompactionRequest) (*pb.CompactionResponse, error) {
	x, err := s.Propose(ctx, &pb.InternalRaftRequest{Compaction: r})
	if err != nil {
		return nil, err
	}
	if r.Physical && x.Physc != nil {
		select {
		case <-x.Physc:
		case <-ctx.Done(): // a closed store is not an error here
			return nil, ctx.Err()
		}
	}
	if x.Err != nil {
		return nil, x.Err
	}
	answer, _ := x.Resp.(*pb.CompactionResponse)
	if answer == nil {
		answer = &pb.CompactionResponse{}
	}
	if answer.Header == nil {
		answer.Header = &pb.ResponseHeader{}
	}
	answer.Header.Revision = s.etcd().kv.Rev()
	return answer, nil
}
