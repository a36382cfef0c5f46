package grants

import (
	"encoding/base64"
	"strconv"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/protobuf/proto"
)

// Apply does what an entry says about users and roles; ok is false for an entry that is about
// something else. The answers have no headers; the errors are those of package auth.
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
		resp = nil // an interface with a nil pointer in it is none
	}
	return resp, err, true
}

// RoleGet tells what a role may do. Errors: auth.ErrRoleNotFound.
func (g *Grants) RoleGet(r *pb.AuthRoleGetRequest) (*pb.AuthRoleGetResponse, error) {
	return g.store.RoleGet(r)
}

// Begin is the entry that makes a user known, with no roles yet.
func Begin(name string, number uint64) *pb.InternalRaftRequest {
	return &pb.InternalRaftRequest{AuthUserAdd: &pb.AuthUserAddRequest{Name: name, HashedPassword: written(number)}}
}

// Rebind is the entry that gives what was granted to a user to another of the same name.
func Rebind(name string, number uint64) *pb.InternalRaftRequest {
	return &pb.InternalRaftRequest{AuthUserChangePassword: &pb.AuthUserChangePasswordRequest{Name: name, HashedPassword: written(number)}}
}

// End is the entry that takes everything from a user.
func End(name string) *pb.InternalRaftRequest {
	return &pb.InternalRaftRequest{AuthUserDelete: &pb.AuthUserDeleteRequest{Name: name}}
}

// written is a number as entries have it: where a password's hash is in etcd, in base64.
func written(number uint64) string {
	return base64.StdEncoding.EncodeToString(strconv.AppendUint(nil, number, 10))
}
