package etcd

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// kvService implements the service KV.
type kvService struct {
	pb.UnimplementedKVServer // for RangeStream, which etcd 3.5 does not have
	srv                      *Server
}

// Range reads keys.
func (k *kvService) Range(ctx context.Context, r *pb.RangeRequest) (*pb.RangeResponse, error) {
	s := k.srv
	if err := checkRange(r); err != nil {
		return nil, err
	}
	who, err := s.identify(ctx)
	if err != nil {
		return nil, err
	}
	if f := s.virtual.of(r.Key); f != nil {
		return asked(who, r, f.Range)
	}
	resp, err := s.keys.Range(ctx, r)
	return completed(s, resp, err)
}

// Put writes a key. The answer comes when the change is on disk.
func (k *kvService) Put(ctx context.Context, r *pb.PutRequest) (*pb.PutResponse, error) {
	s := k.srv
	if err := checkPut(r); err != nil {
		return nil, err
	}
	who, err := s.identify(ctx)
	if err != nil {
		return nil, err
	}
	if f := s.virtual.of(r.Key); f != nil {
		return s.virtual.Put(ctx, f, who, r)
	}
	if err := s.mayPut(who, r); err != nil {
		return nil, reply(err)
	}
	if err := s.room(); err != nil {
		return nil, err
	}
	resp, err := s.keys.Put(ctx, r)
	return completed(s, resp, err)
}

// DeleteRange deletes keys.
func (k *kvService) DeleteRange(ctx context.Context, r *pb.DeleteRangeRequest) (*pb.DeleteRangeResponse, error) {
	s := k.srv
	if err := checkDelete(r); err != nil {
		return nil, err
	}
	who, err := s.identify(ctx)
	if err != nil {
		return nil, err
	}
	if f := s.virtual.of(r.Key); f != nil {
		return asked(who, r, f.DeleteRange)
	}
	if err := s.mayDelete(who, r); err != nil {
		return nil, reply(err)
	}
	resp, err := s.keys.DeleteRange(ctx, r)
	return completed(s, resp, err)
}

// Txn compares keys and executes one of two lists of operations atomically.
func (k *kvService) Txn(ctx context.Context, r *pb.TxnRequest) (*pb.TxnResponse, error) {
	s := k.srv
	if err := checkTxn(r, s.o.MaxTxnOps); err != nil {
		return nil, err
	}
	who, err := s.identify(ctx)
	if err != nil {
		return nil, err
	}
	if puts(s.virtual.ordinaryPart(r)) { // of virtual keys only their families know what needs room
		if err := s.room(); err != nil {
			return nil, err
		}
	}
	if s.virtual.touched(r) {
		return s.virtual.Txn(ctx, who, r)
	}
	if err := s.mayTxn(who, r); err != nil {
		return nil, reply(err)
	}
	resp, err := s.keys.Txn(ctx, r)
	return completed(s, resp, err)
}

// Compact discards the history before a revision.
func (k *kvService) Compact(ctx context.Context, r *pb.CompactionRequest) (*pb.CompactionResponse, error) {
	s := k.srv
	who, err := s.identify(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.mayAdminister(who); err != nil {
		return nil, reply(err)
	}
	resp, err := s.keys.Compact(ctx, r)
	return completed(s, resp, err)
}
