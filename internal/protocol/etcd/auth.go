package etcd

import (
	"context"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	etcderrors "go.etcd.io/etcd/server/v3/etcdserver/errors"
	"google.golang.org/protobuf/proto"

	"fiveways.dev/fiveways/internal/protocol"
)

// authService implements the service Auth: the users of the broker, and their roles here.
type authService struct {
	pb.UnimplementedAuthServer
	srv *Server
}

// header returns the header of an answer.
func (a *authService) header() *pb.ResponseHeader { return a.srv.keys.Header() }

// manage changes what is not etcd's alone (users, the cluster) if the caller may, and records the
// act in the audit log.
func (s *Server) manage(ctx context.Context, what, whom string, do func() error) error {
	who, err := s.identify(ctx)
	if err != nil {
		return err
	}
	if err = s.mayChangeUsers(who); err == nil {
		err = do()
	}
	act := protocol.Act{Protocol: "etcd", Who: who.user, From: peerOf(ctx), What: what, On: whom}
	if err != nil {
		act.Refusal = err.Error()
	}
	s.o.Audit.Record(act)
	return reply(err)
}

// maxRoleName limits the length of role names: a snapshot is a database of etcd, whose keys have at
// most 32 KiB.
const maxRoleName = 1024

// record returns a step of manage that changes roles.
func (a *authService) record(ctx context.Context, r *pb.InternalRaftRequest) func() error {
	return func() error {
		_, err := a.srv.accounts.change(ctx, r)
		return err
	}
}

// answer returns resp, or a nil response with an error.
func answer[T proto.Message](resp T, err error) (T, error) {
	if err != nil {
		var none T
		return none, err
	}
	return resp, nil
}

// Authenticate checks a password and returns a token.
func (a *authService) Authenticate(ctx context.Context, r *pb.AuthenticateRequest) (*pb.AuthenticateResponse, error) {
	token, err := a.srv.accounts.authenticate(ctx, r.Name, r.Password, addrOf(ctx))
	if err != nil {
		return nil, reply(err)
	}
	return &pb.AuthenticateResponse{Header: a.header(), Token: token}, nil
}

// AuthStatus reports whether access control is on.
func (a *authService) AuthStatus(context.Context, *pb.AuthStatusRequest) (*pb.AuthStatusResponse, error) {
	return &pb.AuthStatusResponse{Header: a.header(), Enabled: a.srv.grants.Enabled(), AuthRevision: a.srv.grants.Revision()}, nil
}

// AuthEnable switches access control on.
func (a *authService) AuthEnable(ctx context.Context, r *pb.AuthEnableRequest) (*pb.AuthEnableResponse, error) {
	err := a.srv.manage(ctx, "access control enabled", "", func() error { return a.srv.accounts.enable(ctx) })
	return answer(&pb.AuthEnableResponse{Header: a.header()}, err)
}

// AuthDisable switches access control off.
func (a *authService) AuthDisable(ctx context.Context, r *pb.AuthDisableRequest) (*pb.AuthDisableResponse, error) {
	err := a.srv.manage(ctx, "access control disabled", "", a.record(ctx, &pb.InternalRaftRequest{AuthDisable: r}))
	return answer(&pb.AuthDisableResponse{Header: a.header()}, err)
}

// UserAdd adds a user to the broker.
func (a *authService) UserAdd(ctx context.Context, r *pb.AuthUserAddRequest) (*pb.AuthUserAddResponse, error) {
	err := a.srv.manage(ctx, "user added", r.Name, func() error { return a.srv.accounts.addUser(r) })
	return answer(&pb.AuthUserAddResponse{Header: a.header()}, err)
}

// UserDelete deletes a user of the broker with all its permissions.
func (a *authService) UserDelete(ctx context.Context, r *pb.AuthUserDeleteRequest) (*pb.AuthUserDeleteResponse, error) {
	err := a.srv.manage(ctx, "user deleted", r.Name, func() error { return a.srv.accounts.deleteUser(ctx, r.Name) })
	return answer(&pb.AuthUserDeleteResponse{Header: a.header()}, err)
}

// UserChangePassword changes the password of a user of the broker.
func (a *authService) UserChangePassword(
	ctx context.Context, r *pb.AuthUserChangePasswordRequest,
) (*pb.AuthUserChangePasswordResponse, error) {
	err := a.srv.manage(ctx, "password changed", r.Name, func() error { return a.srv.accounts.changePassword(r.Name, r.Password) })
	return answer(&pb.AuthUserChangePasswordResponse{Header: a.header()}, err)
}

// UserGrantRole gives a user a role.
func (a *authService) UserGrantRole(ctx context.Context, r *pb.AuthUserGrantRoleRequest) (*pb.AuthUserGrantRoleResponse, error) {
	err := a.srv.manage(ctx, "role "+r.Role+" granted", r.User, func() error { return a.srv.accounts.grantRole(ctx, r) })
	return answer(&pb.AuthUserGrantRoleResponse{Header: a.header()}, err)
}

// UserRevokeRole revokes a role from a user.
func (a *authService) UserRevokeRole(ctx context.Context, r *pb.AuthUserRevokeRoleRequest) (*pb.AuthUserRevokeRoleResponse, error) {
	err := a.srv.manage(ctx, "role "+r.Role+" revoked", r.Name, func() error { return a.srv.accounts.revokeRole(ctx, r) })
	return answer(&pb.AuthUserRevokeRoleResponse{Header: a.header()}, err)
}

// UserGet returns the roles of a user. Users may ask for their own.
func (a *authService) UserGet(ctx context.Context, r *pb.AuthUserGetRequest) (*pb.AuthUserGetResponse, error) {
	who, err := a.srv.identify(ctx)
	if err != nil {
		return nil, err
	}
	if err := a.srv.mayChangeUsers(who); err != nil && r.Name != who.user {
		return nil, reply(err)
	}
	roles, err := a.srv.accounts.rolesOf(r.Name)
	if err != nil {
		return nil, reply(err)
	}
	return &pb.AuthUserGetResponse{Header: a.header(), Roles: roles}, nil
}

// UserList lists all users of the broker.
func (a *authService) UserList(ctx context.Context, r *pb.AuthUserListRequest) (*pb.AuthUserListResponse, error) {
	if err := a.mayLook(ctx); err != nil {
		return nil, err
	}
	return &pb.AuthUserListResponse{Header: a.header(), Users: a.srv.accounts.userNames()}, nil
}

// mayLook reports whether the caller may see all users and roles.
func (a *authService) mayLook(ctx context.Context) error {
	who, err := a.srv.identify(ctx)
	if err != nil {
		return err
	}
	return reply(a.srv.mayChangeUsers(who))
}

// RoleAdd adds a role without permissions.
func (a *authService) RoleAdd(ctx context.Context, r *pb.AuthRoleAddRequest) (*pb.AuthRoleAddResponse, error) {
	add := a.record(ctx, &pb.InternalRaftRequest{AuthRoleAdd: r})
	if len(r.Name) > maxRoleName {
		add = func() error { return etcderrors.ErrRequestTooLarge }
	}
	err := a.srv.manage(ctx, "role added", r.Name[:min(len(r.Name), maxRoleName)], add)
	return answer(&pb.AuthRoleAddResponse{Header: a.header()}, err)
}

// RoleDelete deletes a role and revokes it from its users.
func (a *authService) RoleDelete(ctx context.Context, r *pb.AuthRoleDeleteRequest) (*pb.AuthRoleDeleteResponse, error) {
	err := a.srv.manage(ctx, "role deleted", r.Role, a.record(ctx, &pb.InternalRaftRequest{AuthRoleDelete: r}))
	return answer(&pb.AuthRoleDeleteResponse{Header: a.header()}, err)
}

// RoleGrantPermission lets a role read or write a range of keys.
func (a *authService) RoleGrantPermission(
	ctx context.Context, r *pb.AuthRoleGrantPermissionRequest,
) (*pb.AuthRoleGrantPermissionResponse, error) {
	err := a.srv.manage(ctx, "permission granted", r.Name, a.record(ctx, &pb.InternalRaftRequest{AuthRoleGrantPermission: r}))
	return answer(&pb.AuthRoleGrantPermissionResponse{Header: a.header()}, err)
}

// RoleRevokePermission revokes a permission on a range of keys from a role.
func (a *authService) RoleRevokePermission(
	ctx context.Context, r *pb.AuthRoleRevokePermissionRequest,
) (*pb.AuthRoleRevokePermissionResponse, error) {
	err := a.srv.manage(ctx, "permission revoked", r.Role, a.record(ctx, &pb.InternalRaftRequest{AuthRoleRevokePermission: r}))
	return answer(&pb.AuthRoleRevokePermissionResponse{Header: a.header()}, err)
}

// RoleGet returns the permissions of a role. Users may ask for their own roles.
func (a *authService) RoleGet(ctx context.Context, r *pb.AuthRoleGetRequest) (*pb.AuthRoleGetResponse, error) {
	who, err := a.srv.identify(ctx)
	if err != nil {
		return nil, err
	}
	if err := a.srv.mayChangeUsers(who); err != nil {
		if own, _ := a.srv.accounts.rolesOf(who.user); !slices.Contains(own, r.Role) {
			return nil, reply(err)
		}
	}
	resp, err := a.srv.grants.RoleGet(r)
	if err != nil {
		return nil, reply(err)
	}
	resp.Header = a.header()
	return resp, nil
}

// RoleList lists all roles.
func (a *authService) RoleList(ctx context.Context, r *pb.AuthRoleListRequest) (*pb.AuthRoleListResponse, error) {
	if err := a.mayLook(ctx); err != nil {
		return nil, err
	}
	return &pb.AuthRoleListResponse{Header: a.header(), Roles: a.srv.grants.Roles()}, nil
}
