package etcd

import (
	"context"
	"io"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/lease"
	"go.etcd.io/etcd/server/v3/storage/backend"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
)

type keyStore interface {
	Range(context.Context, *pb.RangeRequest) (*pb.RangeResponse, error)
	Put(context.Context, *pb.PutRequest) (*pb.PutResponse, error)
	DeleteRange(context.Context, *pb.DeleteRangeRequest) (*pb.DeleteRangeResponse, error)
	Txn(context.Context, *pb.TxnRequest) (*pb.TxnResponse, error)
	Compact(context.Context, *pb.CompactionRequest) (*pb.CompactionResponse, error)
	LeaseGrant(context.Context, *pb.LeaseGrantRequest) (*pb.LeaseGrantResponse, error)
	LeaseRevoke(context.Context, *pb.LeaseRevokeRequest) (*pb.LeaseRevokeResponse, error)
	LeaseTimeToLive(context.Context, *pb.LeaseTimeToLiveRequest) (*pb.LeaseTimeToLiveResponse, error)
	LeaseLeases(context.Context, *pb.LeaseLeasesRequest) (*pb.LeaseLeasesResponse, error)
	LeaseRenew(context.Context, lease.LeaseID) (int64, error)
	Alarm(context.Context, *pb.AlarmRequest) (*pb.AlarmResponse, error)
	Alarms() []*pb.AlarmMember
	Snapshot(context.Context) (int64, io.ReadCloser, error)
	KV() mvcc.WatchableKV
	Backend() backend.Backend
	Index() uint64
	Quota() int64
	ClusterID() uint64
	MemberID() uint64
}
