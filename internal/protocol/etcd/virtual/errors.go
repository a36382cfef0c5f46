package virtual

import (
	"errors"
	"slices"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fiveways.dev/fiveways/internal/core/failure"
)

// Row maps an error of the engine to what clients get for it: an error of etcd, or a code with the
// text of the engine.
type Row struct {
	Err    error
	Status error
	Code   codes.Code // used if Status is nil
}

// common maps the errors of the engine that all families can cause.
var common = []Row{
	{Err: failure.ErrAccessRefused, Status: rpctypes.ErrGRPCPermissionDenied},
	{Err: failure.ErrVHostRefused, Status: rpctypes.ErrGRPCPermissionDenied},
	{Err: failure.ErrLogFailed, Status: ErrLogFailed},
	{Err: failure.ErrClosed, Status: rpctypes.ErrGRPCStopped},
	{Err: failure.ErrUserDeleted, Status: rpctypes.ErrGRPCInvalidAuthToken},
	{Err: failure.ErrTooLarge, Status: rpctypes.ErrGRPCRequestTooLarge},
	{Err: failure.ErrStale, Code: codes.Aborted},
	{Err: failure.ErrVHostNotFound, Code: codes.FailedPrecondition},
}

// ToStatus maps an error of the engine to the one that etcd clients get, by the rows of a family or
// the common rows. Other errors are returned unchanged.
func ToStatus(err error, rows []Row) error {
	if err == nil {
		return nil
	}
	if _, ok := status.FromError(err); ok {
		return err
	}
	is := func(r Row) bool { return errors.Is(err, r.Err) }
	for _, table := range [][]Row{rows, common} {
		if i := slices.IndexFunc(table, is); i >= 0 {
			if r := table[i]; r.Status != nil {
				return r.Status
			}
			return status.Error(table[i].Code, "etcdserver: "+err.Error())
		}
	}
	return err
}

// ErrLogFailed is the answer to a change when the log has failed: it is unknown whether the change
// survives a restart.
var ErrLogFailed = status.Error(codes.Unavailable, "etcdserver: the log takes no more: see the log of the server")

// ErrTooMuch is the answer to a range that is larger than MaxAnswer.
var ErrTooMuch = status.Error(codes.ResourceExhausted, "etcdserver: the answer would be larger than 64 MiB: ask with a limit")

// MaxAnswer is how many bytes the keys and values of an answer may have.
const MaxAnswer = 64 << 20
