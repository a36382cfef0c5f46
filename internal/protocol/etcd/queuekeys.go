package etcd

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// noQueues refuses all keys of queues.
type noQueues struct{}

var errNoQueues = status.Error(codes.Unimplemented, "etcdserver: queues as keys are not served")

func newQueueKeys(*Server) queueKeys { return noQueues{} }

func (noQueues) Put(context.Context, *identity, *pb.PutRequest) (*pb.PutResponse, error) {
	return nil, errNoQueues
}

func (noQueues) Range(context.Context, *identity, *pb.RangeRequest) (*pb.RangeResponse, error) {
	return nil, errNoQueues
}

func (noQueues) DeleteRange(context.Context, *identity, *pb.DeleteRangeRequest) (*pb.DeleteRangeResponse, error) {
	return nil, errNoQueues
}

func (noQueues) Txn(context.Context, *identity, *pb.TxnRequest) (*pb.TxnResponse, error) {
	return nil, errNoQueues
}

func (noQueues) Watch(context.Context, *identity, *pb.WatchCreateRequest, func()) (queueWatcher, int64, error) {
	return nil, 0, errNoQueues
}

func (noQueues) Revision() int64 { return 1 }

func (noQueues) Close() error { return nil }
