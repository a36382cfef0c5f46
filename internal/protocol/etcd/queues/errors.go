package queues

import (
	"errors"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fiveways/internal/broker"
)

// Errors of keys of queues that etcd has none for.
var (
	errTail         = status.Error(codes.InvalidArgument, "etcdserver: the key of a message has at most 255 bytes, and so has the client before it")
	errMessageLease = status.Error(codes.InvalidArgument, "etcdserver: a message takes no lease")
	errFull         = status.Error(codes.ResourceExhausted, "etcdserver: the queue is full")
	errTooMuch      = status.Error(codes.ResourceExhausted, "etcdserver: the answer would be larger than 64 MiB: ask with a limit")
	errWatchOther   = status.Error(codes.InvalidArgument, "etcdserver: of the keys of queues only those of one consumer can be watched")
	errTxnOther     = status.Error(codes.InvalidArgument,
		"etcdserver: of the keys of queues a transaction may put those of producers, delete those of deliveries, and read and compare all")
	errQueueDeleted = status.Error(codes.Aborted, "etcdserver: the queue was deleted")
	errLeft         = status.Error(codes.Aborted, "etcdserver: the consumer was deleted")
)

// toStatus is an error of the engine as clients of etcd get it. What is none of these stays as it is.
func toStatus(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := status.FromError(err); ok {
		return err
	}
	for _, row := range statuses {
		if errors.Is(err, row.err) {
			if row.status != nil {
				return row.status
			}
			return status.Error(row.code, "etcdserver: "+err.Error())
		}
	}
	return err
}

// statuses are the errors of the engine that queues can lead to: as an error of etcd, or as a code with the engine's words.
var statuses = []struct {
	err    error
	status error
	code   codes.Code
}{
	{err: broker.ErrAccessRefused, status: rpctypes.ErrGRPCPermissionDenied},
	{err: broker.ErrVHostRefused, status: rpctypes.ErrGRPCPermissionDenied},
	{err: broker.ErrExclusive, status: rpctypes.ErrGRPCPermissionDenied},
	{err: broker.ErrReservedName, status: rpctypes.ErrGRPCPermissionDenied},
	{err: broker.ErrRejected, status: errFull},
	{err: broker.ErrLogFailed, status: rpctypes.ErrGRPCStopped},
	{err: broker.ErrClosed, status: rpctypes.ErrGRPCStopped},
	{err: broker.ErrTooLarge, status: rpctypes.ErrGRPCRequestTooLarge},
	{err: broker.ErrQueueNotFound, status: errQueueDeleted},
	{err: broker.ErrInvalidName, code: codes.InvalidArgument},
	{err: broker.ErrQueueLimit, code: codes.ResourceExhausted},
	{err: broker.ErrInequivalent, code: codes.FailedPrecondition},
	{err: broker.ErrWrongKind, code: codes.FailedPrecondition},
	{err: broker.ErrExclusiveConsumer, code: codes.FailedPrecondition},
	{err: broker.ErrInUse, code: codes.FailedPrecondition},
	{err: broker.ErrStale, code: codes.Aborted},
	{err: broker.ErrVHostNotFound, code: codes.FailedPrecondition},
}
