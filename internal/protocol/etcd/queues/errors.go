package queues

import (
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
)

// Errors of queue keys for which etcd has no counterpart.
var (
	errTail         = status.Error(codes.InvalidArgument, "etcdserver: the key of a message has at most 255 bytes, and so has the client before it")
	errMessageLease = status.Error(codes.InvalidArgument, "etcdserver: a message takes no lease")
	errFull         = status.Error(codes.ResourceExhausted, "etcdserver: the queue is full")
	errWatchOther   = status.Error(codes.InvalidArgument, "etcdserver: a watch of queue keys must be below the key of one consumer")
	errTxnOther     = status.Error(codes.InvalidArgument,
		"etcdserver: in a transaction, queue keys allow puts to producers, deletes of deliveries, reads and comparisons only")
	errQueueDeleted = status.Error(codes.Aborted, "etcdserver: the queue was deleted")
	errLeft         = status.Error(codes.Aborted, "etcdserver: the consumer was deleted")
)

// toStatus maps an error of the engine to the one that etcd clients get. Other errors are returned
// unchanged.
func toStatus(err error) error { return virtual.ToStatus(err, statuses) }

// statuses maps the errors of the engine that only queues can cause.
var statuses = []virtual.Row{
	{Err: failure.ErrExclusive, Status: rpctypes.ErrGRPCPermissionDenied},
	{Err: failure.ErrReservedName, Status: rpctypes.ErrGRPCPermissionDenied},
	{Err: failure.ErrRejected, Status: errFull},
	{Err: failure.ErrQueueNotFound, Status: errQueueDeleted},
	{Err: failure.ErrInvalidName, Code: codes.InvalidArgument},
	{Err: failure.ErrQueueLimit, Code: codes.ResourceExhausted},
	{Err: failure.ErrInequivalent, Code: codes.FailedPrecondition},
	{Err: failure.ErrWrongKind, Code: codes.FailedPrecondition},
	{Err: failure.ErrExclusiveConsumer, Code: codes.FailedPrecondition},
	{Err: failure.ErrInUse, Code: codes.FailedPrecondition},
}
