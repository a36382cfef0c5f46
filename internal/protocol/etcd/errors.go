package etcd

import (
	"context"
	"errors"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/server/v3/auth"
	etcderrors "go.etcd.io/etcd/server/v3/etcdserver/errors"
	"go.etcd.io/etcd/server/v3/lease"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
	"fiveways.dev/fiveways/internal/replica"
)

// replies maps errors of the layers below to those that clients get. Errors of etcd's packages get
// the texts and codes of etcd's servers. Errors of the engine get the closest ones that clients act
// upon.
var replies = []struct{ cause, reply error }{
	{mvcc.ErrCompacted, rpctypes.ErrGRPCCompacted},
	{mvcc.ErrFutureRev, rpctypes.ErrGRPCFutureRev},

	{etcderrors.ErrRequestTooLarge, rpctypes.ErrGRPCRequestTooLarge},
	{etcderrors.ErrNoSpace, rpctypes.ErrGRPCNoSpace},
	{etcderrors.ErrTooManyRequests, rpctypes.ErrGRPCRequestTooManyRequests},
	{etcderrors.ErrKeyNotFound, rpctypes.ErrGRPCKeyNotFound},
	{etcderrors.ErrCorrupt, rpctypes.ErrGRPCCorrupt},
	{etcderrors.ErrStopped, rpctypes.ErrGRPCStopped},
	{etcderrors.ErrTimeout, rpctypes.ErrGRPCTimeout},
	{etcderrors.ErrCanceled, rpctypes.ErrGRPCCanceled},
	{etcderrors.ErrUnhealthy, rpctypes.ErrGRPCUnhealthy},
	{etcderrors.ErrBadLeaderTransferee, rpctypes.ErrGRPCBadLeaderTransferee},
	{etcderrors.ErrNotEnoughStartedMembers, rpctypes.ErrGRPCMemberNotEnoughStarted},

	{lease.ErrLeaseNotFound, rpctypes.ErrGRPCLeaseNotFound},
	{lease.ErrLeaseExists, rpctypes.ErrGRPCLeaseExist},
	{lease.ErrLeaseTTLTooLarge, rpctypes.ErrGRPCLeaseTTLTooLarge},

	{auth.ErrRootUserNotExist, rpctypes.ErrGRPCRootUserNotExist},
	{auth.ErrRootRoleNotExist, rpctypes.ErrGRPCRootRoleNotExist},
	{auth.ErrUserAlreadyExist, rpctypes.ErrGRPCUserAlreadyExist},
	{auth.ErrUserEmpty, rpctypes.ErrGRPCUserEmpty},
	{auth.ErrUserNotFound, rpctypes.ErrGRPCUserNotFound},
	{auth.ErrRoleAlreadyExist, rpctypes.ErrGRPCRoleAlreadyExist},
	{auth.ErrRoleNotFound, rpctypes.ErrGRPCRoleNotFound},
	{auth.ErrRoleEmpty, rpctypes.ErrGRPCRoleEmpty},
	{auth.ErrAuthFailed, rpctypes.ErrGRPCAuthFailed},
	{auth.ErrPermissionNotGiven, rpctypes.ErrGRPCPermissionNotGiven},
	{auth.ErrPermissionDenied, rpctypes.ErrGRPCPermissionDenied},
	{auth.ErrRoleNotGranted, rpctypes.ErrGRPCRoleNotGranted},
	{auth.ErrPermissionNotGranted, rpctypes.ErrGRPCPermissionNotGranted},
	{auth.ErrAuthNotEnabled, rpctypes.ErrGRPCAuthNotEnabled},
	{auth.ErrInvalidAuthToken, rpctypes.ErrGRPCInvalidAuthToken},
	{auth.ErrInvalidAuthMgmt, rpctypes.ErrGRPCInvalidAuthMgmt},
	{auth.ErrAuthOldRevision, rpctypes.ErrGRPCAuthOldRevision},

	{errNoPassword, status.Error(codes.InvalidArgument, errNoPassword.Error())},
	{failure.ErrAccessRefused, rpctypes.ErrGRPCPermissionDenied},
	{failure.ErrInvalidName, status.Error(codes.InvalidArgument, "etcdserver: a user cannot have this name")},
	{failure.ErrUserConnections, status.Error(codes.ResourceExhausted, "etcdserver: the user has too many connections")},
	{failure.ErrVHostConnections, status.Error(codes.ResourceExhausted, "etcdserver: the virtual host has too many connections")},
	{failure.ErrTooLarge, rpctypes.ErrGRPCRequestTooLarge},
	{failure.ErrClosed, rpctypes.ErrGRPCStopped},
	{failure.ErrLogFailed, virtual.ErrLogFailed},
	{replica.ErrTooFew, rpctypes.ErrGRPCMemberNotEnoughStarted},
	{replica.ErrNoMajority, rpctypes.ErrGRPCMemberNotEnoughStarted},
	{replica.ErrBusy, rpctypes.ErrGRPCUnhealthy},
	{replica.ErrNotLeader, rpctypes.ErrGRPCNotLeader},
}

// reply turns an error of the layers below into the one that clients get. A gRPC status is returned
// unchanged.
func reply(err error) error {
	if err == nil {
		return nil
	}
	for _, r := range replies {
		if errors.Is(err, r.cause) {
			return r.reply
		}
	}
	switch _, isStatus := status.FromError(err); {
	case isStatus:
		return err
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return status.FromContextError(err).Err()
	default:
		return status.Error(codes.Unknown, err.Error())
	}
}
