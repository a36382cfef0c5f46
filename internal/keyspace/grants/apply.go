package grants

import (
	"encoding/base64"
	"strconv"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/protobuf/proto"
)

// Apply applies an entry about users or roles. ok is false for any other entry. The answers have no
// headers; the errors are those of package auth.
func (g *Grants) Apply(r *pb.InternalRaftRequest) (resp proto.Message, err error, ok bool) {
	switch {
	case r.AuthEnable != nil:
		resp, err = &pb.AuthEnableResponse{}, g.store.AuthEnable()
	case r.AuthDisable != nil:
		g.store.AuthDisable()
		resp = &pb.AuthDisableResponse{}
	case r.AuthUserAdd != nil:
		resp, err = g.store.UserAdd(r.AuthUserAdd)
	case r.AuthUserDelete != nil:
		resp, err = g.store.UserDelete(r.AuthUserDelete)
	case r.AuthUserChangePassword != nil:
		resp, err = g.store.UserChangePassword(r.AuthUserChangePassword)
	case r.AuthUserGrantRole != nil:
		resp, err = g.store.UserGrantRole(r.AuthUserGrantRole)
	case r.AuthUserRevokeRole != nil:
		resp, err = g.store.UserRevokeRole(r.AuthUserRevokeRole)
	case r.AuthRoleAdd != nil:
		resp, err = g.store.RoleAdd(r.AuthRoleAdd)
	case r.AuthRoleDelete != nil:
		resp, err = g.store.RoleDelete(r.AuthRoleDelete)
	case r.AuthRoleGrantPermission != nil:
		resp, err = g.store.RoleGrantPermission(r.AuthRoleGrantPermission)
	case r.AuthRoleRevokePermission != nil:
		resp, err = g.store.RoleRevokePermission(r.AuthRoleRevokePermission)
	default:
		return nil, nil, false
	}
	if err != nil {
		resp = nil // an interface that contains a nil pointer is not nil
	}
	return resp, err, true
}

// RoleGet returns the permissions of a role. Errors: auth.ErrRoleNotFound.
func (g *Grants) RoleGet(r *pb.AuthRoleGetRequest) (*pb.AuthRoleGetResponse, error) {
	return g.store.RoleGet(r)
}

// Begin returns the entry that adds a user without roles.
func Begin(name string, number uint64) *pb.InternalRaftRequest {
	return &pb.InternalRaftRequest{AuthUserAdd: &pb.AuthUserAddRequest{Name: name, HashedPassword: written(number)}}
}

// Rebind returns the entry that transfers the roles of a user to another user of the same name.
func Rebind(name string, number uint64) *pb.InternalRaftRequest {
	return &pb.InternalRaftRequest{AuthUserChangePassword: &pb.AuthUserChangePasswordRequest{Name: name, HashedPassword: written(number)}}
}

// End returns the entry that revokes everything from a user.
func End(name string) *pb.InternalRaftRequest {
	return &pb.InternalRaftRequest{AuthUserDelete: &pb.AuthUserDeleteRequest{Name: name}}
}

// written encodes a number for an entry, in base64: it takes the place of etcd's password hash.
func written(number uint64) string {
	return base64.StdEncoding.EncodeToString(strconv.AppendUint(nil, number, 10))
}
