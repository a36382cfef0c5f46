package etcd

import (
	"context"
	"errors"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/auth"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/keyspace/grants"
)

// errNoPassword is the error for an empty password, which the broker does not accept.
var errNoPassword = errors.New("etcdserver: the password is empty")

// addUser adds a user to the broker, without permissions in virtual hosts and without roles. A user
// without a password cannot log in with one. Errors: auth.ErrUserEmpty, auth.ErrUserAlreadyExist,
// failure.ErrInvalidName.
func (a *accounts) addUser(r *pb.AuthUserAddRequest) error {
	if r.Name == "" {
		return auth.ErrUserEmpty
	}
	spec := catalog.UserSpec{Name: r.Name, Password: r.Password, MakeOnly: true}
	if r.Options.GetNoPassword() {
		spec.Password = ""
	}
	created, err := a.broker.PutUser(spec)
	if err == nil && !created {
		return auth.ErrUserAlreadyExist
	}
	return err
}

// deleteUser revokes a user's roles and then deletes the user from the broker, which ends its
// sessions. Errors: auth.ErrUserNotFound; auth.ErrInvalidAuthMgmt for root while access control is
// on.
func (a *accounts) deleteUser(ctx context.Context, name string) error {
	if name == grants.Root && a.grants.Enabled() {
		return auth.ErrInvalidAuthMgmt
	}
	if a.grants.Holder(name) != nil {
		if _, err := a.change(ctx, grants.End(name)); err != nil && !errors.Is(err, auth.ErrUserNotFound) {
			return err
		}
	}
	return known(a.broker.DeleteUser(name))
}

// changePassword changes the password of a user, which ends its tokens. A user that was created
// without a password stays without, as in etcd. Errors: auth.ErrUserNotFound, errNoPassword.
func (a *accounts) changePassword(name, password string) error {
	u, err := a.broker.User(name)
	switch {
	case err != nil:
		return known(err)
	case u.Hash == "":
		return nil
	case password == "":
		return errNoPassword
	}
	return known(a.broker.SetPassword(name, password))
}

// grantRole grants a role to a user of the broker. Errors: auth.ErrUserNotFound,
// auth.ErrRoleNotFound.
func (a *accounts) grantRole(ctx context.Context, r *pb.AuthUserGrantRoleRequest) error {
	u, err := a.broker.User(r.User)
	if err != nil {
		return known(err)
	}
	if _, err := a.grants.RoleGet(&pb.AuthRoleGetRequest{Role: r.Role}); err != nil && r.Role != grants.Root {
		return err
	}
	if err := a.shedOthers(&u); err != nil {
		return err
	}
	if a.grants.Holder(u.Name) == nil {
		if _, err := a.change(ctx, grants.Begin(u.Name, u.Made)); err != nil && !errors.Is(err, auth.ErrUserAlreadyExist) {
			return err
		}
	}
	_, err = a.change(ctx, &pb.InternalRaftRequest{AuthUserGrantRole: r})
	return err
}

// revokeRole revokes a role from a user. Errors: auth.ErrUserNotFound, auth.ErrRoleNotGranted;
// auth.ErrInvalidAuthMgmt for root's role root while access control is on.
func (a *accounts) revokeRole(ctx context.Context, r *pb.AuthUserRevokeRoleRequest) error {
	if a.grants.Enabled() && r.Name == grants.Root && r.Role == grants.Root {
		return auth.ErrInvalidAuthMgmt
	}
	u, err := a.broker.User(r.Name)
	if err != nil {
		return known(err)
	}
	if err := a.shedOthers(&u); err != nil {
		return err
	}
	if a.grants.Holder(u.Name) == nil {
		return auth.ErrRoleNotGranted
	}
	_, err = a.change(ctx, &pb.InternalRaftRequest{AuthUserRevokeRole: r})
	return err
}

// rolesOf returns the roles of a user of the broker. Errors: auth.ErrUserNotFound.
func (a *accounts) rolesOf(name string) ([]string, error) {
	u, err := a.broker.User(name)
	if err != nil {
		return nil, known(err)
	}
	h := a.grants.Holder(name)
	if h == nil || h.Number != u.Made {
		return nil, nil
	}
	return h.Roles, nil
}

// userNames returns the names of all users of the broker, in order.
func (a *accounts) userNames() []string {
	names := []string{}
	for _, u := range a.broker.Users() {
		names = append(names, u.Name)
	}
	return names
}

// enable switches access control on. It returns auth.ErrRootUserNotExist or
// auth.ErrRootRoleNotExist if no user could switch it off again.
func (a *accounts) enable(ctx context.Context) error {
	u, err := a.broker.User(grants.Root)
	if err != nil {
		return auth.ErrRootUserNotExist
	}
	if err := a.shedOthers(&u); err != nil {
		return err
	}
	if a.grants.Holder(grants.Root) == nil {
		return auth.ErrRootRoleNotExist
	}
	_, err = a.change(ctx, &pb.InternalRaftRequest{AuthEnable: &pb.AuthEnableRequest{}})
	return err
}

// known maps the broker's error for a missing user to etcd's.
func known(err error) error {
	if errors.Is(err, failure.ErrUserNotFound) {
		return auth.ErrUserNotFound
	}
	return err
}
