package duel

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/grpc/metadata"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// RootPassword is the password of the user root in scripts that enable authentication, so that it
// can be disabled after them.
const RootPassword = "root"

// ownUsers are users of the broker that etcd clients have not created.
var ownUsers = []string{"guest"}

func withoutOwn(users []string) []string {
	return slices.DeleteFunc(users, func(u string) bool { return slices.Contains(ownUsers, u) })
}

// sweep closes all connections, deletes everything in both servers, and records their revisions.
func (d *Duel) sweep() error {
	for _, p := range d.Peers {
		p.Close()
		if err := p.sweep(); err != nil {
			return fmt.Errorf("sweep %s: %w", p.Name, err)
		}
	}
	return nil
}

func (p *Peer) sweep() error {
	c, err := p.client(1)
	if err != nil {
		return err
	}
	ctx, cancel := c.context()
	defer cancel()
	auth := pb.NewAuthClient(c.conn)
	if err := disable(ctx, auth); err != nil {
		return err
	}
	if err := sweepUsers(ctx, auth); err != nil {
		return err
	}
	if err := sweepLeases(ctx, pb.NewLeaseClient(c.conn)); err != nil {
		return err
	}
	calm := &pb.AlarmRequest{Action: pb.AlarmRequest_DEACTIVATE, Alarm: pb.AlarmType_NOSPACE}
	if _, err := pb.NewMaintenanceClient(c.conn).Alarm(ctx, calm); err != nil {
		return err
	}
	last, err := pb.NewKVClient(c.conn).DeleteRange(ctx, &pb.DeleteRangeRequest{Key: []byte{0}, RangeEnd: []byte{0}})
	if err != nil {
		return err
	}
	p.base = last.Header.Revision
	p.told = p.base
	return nil
}

// disable disables authentication if it is enabled.
func disable(ctx context.Context, auth pb.AuthClient) error {
	if _, err := auth.UserList(ctx, &pb.AuthUserListRequest{}); err == nil {
		return nil // it is disabled; a login would be refused, after a delay
	}
	login, err := auth.Authenticate(ctx, &pb.AuthenticateRequest{Name: "root", Password: RootPassword})
	if err == nil {
		_, err = auth.AuthDisable(metadata.AppendToOutgoingContext(ctx, "token", login.Token), &pb.AuthDisableRequest{})
		return err
	}
	return nil // it is disabled; if not, a later call fails
}

func sweepUsers(ctx context.Context, auth pb.AuthClient) error {
	users, err := auth.UserList(ctx, &pb.AuthUserListRequest{})
	if err != nil {
		return err
	}
	for _, u := range withoutOwn(users.Users) {
		if _, err := auth.UserDelete(ctx, &pb.AuthUserDeleteRequest{Name: u}); err != nil {
			return err
		}
	}
	roles, err := auth.RoleList(ctx, &pb.AuthRoleListRequest{})
	if err != nil {
		return err
	}
	for _, r := range roles.Roles {
		if _, err := auth.RoleDelete(ctx, &pb.AuthRoleDeleteRequest{Role: r}); err != nil {
			return err
		}
	}
	return nil
}

func sweepLeases(ctx context.Context, lease pb.LeaseClient) error {
	leases, err := lease.LeaseLeases(ctx, &pb.LeaseLeasesRequest{})
	if err != nil {
		return err
	}
	for _, l := range leases.Leases {
		if _, err := lease.LeaseRevoke(ctx, &pb.LeaseRevokeRequest{ID: l.ID}); err != nil {
			return err
		}
	}
	return nil
}
