package semkeys

import (
	"errors"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/semaphores/semjson"
)

// Errors of semaphore keys for which etcd has no counterpart.
var (
	errKey        = status.Error(codes.InvalidArgument, "etcdserver: keys of semaphores are /semaphore/{key} and /semaphore/{key}/{task}")
	errNotFound   = status.Error(codes.NotFound, "etcdserver: there is no such semaphore: put its key first")
	errNoLease    = status.Error(codes.InvalidArgument, "etcdserver: a semaphore takes no lease, its tasks do")
	errDeleteMany = status.Error(codes.InvalidArgument, "etcdserver: a delete of semaphore keys must name one key, or tasks of one semaphore")
	errCompare    = status.Error(codes.InvalidArgument, "etcdserver: of a single semaphore key, a transaction may compare the version, the lease, "+
		"a revision with 0, and with = or != the value, as a JSON object with some of its fields")
)

// toStatus maps an error of the manager to the one that etcd clients get. Other errors are returned
// unchanged.
func toStatus(err error) error {
	for _, c := range worded {
		if errors.Is(err, c.err) {
			return refusal(c.code, semjson.Refuse(err).Reason)
		}
	}
	return virtual.ToStatus(err, statuses)
}

// statuses maps the errors that only semaphores can cause.
var statuses = []virtual.Row{
	{Err: semaphores.ErrNotFound, Status: errNotFound},
	{Err: semaphores.ErrNoTask, Status: rpctypes.ErrGRPCKeyNotFound},
	{Err: semaphores.ErrDiskFull, Status: rpctypes.ErrGRPCNoSpace},
}

// worded maps the errors that have the same text in all protocols.
var worded = []struct {
	err  error
	code codes.Code
}{
	{semaphores.ErrInvalid, codes.InvalidArgument},
	{semaphores.ErrOrder, codes.FailedPrecondition},
	{semaphores.ErrNotEmpty, codes.FailedPrecondition},
	{semaphores.ErrDeleted, codes.Aborted},
	{semaphores.ErrTooMany, codes.ResourceExhausted},
}

func refusal(code codes.Code, why string) error { return status.Error(code, "etcdserver: "+why) }

// invalid returns the error for an invalid value.
func invalid(why string) error { return refusal(codes.InvalidArgument, why) }
