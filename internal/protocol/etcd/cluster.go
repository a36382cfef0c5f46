package etcd

import (
	"context"
	"net/url"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// clusterService is the service Cluster. There is one member, this one.
type clusterService struct {
	pb.UnimplementedClusterServer
	srv *Server
}

var errOneMember = status.Error(codes.FailedPrecondition, "etcdserver: not capable: this broker is a single node, its membership does not change")

// MemberList lists this member.
func (c *clusterService) MemberList(ctx context.Context, r *pb.MemberListRequest) (*pb.MemberListResponse, error) {
	if _, err := c.srv.identify(ctx); err != nil {
		return nil, err
	}
	h := &pb.ResponseHeader{} // without a revision, as etcd's
	c.srv.keys.Fill(h)
	return &pb.MemberListResponse{Header: h, Members: []*pb.Member{c.self(ctx)}}, nil
}

// self is this member. Its URL is where this client reached it: another one may not lead here from
// where the client is.
func (c *clusterService) self(ctx context.Context) *pb.Member {
	m := &pb.Member{ID: c.srv.keys.MemberID(), Name: c.srv.o.NodeName}
	if p, ok := peer.FromContext(ctx); ok && p.LocalAddr != nil {
		m.ClientURLs = []string{"http://" + p.LocalAddr.String()}
	}
	return m
}

// admin reports whether the caller may change members, and whether there is one of the id.
func (c *clusterService) admin(ctx context.Context, id uint64) error {
	who, err := c.srv.identify(ctx)
	if err != nil {
		return err
	}
	if err := c.srv.mayAdminister(who); err != nil {
		return reply(err)
	}
	if id != c.srv.keys.MemberID() {
		return rpctypes.ErrGRPCMemberNotFound
	}
	return nil
}

// MemberAdd is refused.
func (c *clusterService) MemberAdd(ctx context.Context, r *pb.MemberAddRequest) (*pb.MemberAddResponse, error) {
	if err := c.admin(ctx, c.srv.keys.MemberID()); err != nil {
		return nil, err
	}
	if len(r.PeerURLs) == 0 || slices.ContainsFunc(r.PeerURLs, isBadURL) {
		return nil, rpctypes.ErrGRPCMemberBadURLs
	}
	return nil, errOneMember
}

// isBadURL reports whether something is no address of a member: scheme, host and port.
func isBadURL(s string) bool {
	u, err := url.Parse(s)
	return err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Port() == "" || u.Path != ""
}

// MemberRemove is refused for the only member.
func (c *clusterService) MemberRemove(ctx context.Context, r *pb.MemberRemoveRequest) (*pb.MemberRemoveResponse, error) {
	if err := c.admin(ctx, r.ID); err != nil {
		return nil, err
	}
	return nil, rpctypes.ErrGRPCMemberNotEnoughStarted
}

// MemberUpdate is refused: there are no URLs for other members.
func (c *clusterService) MemberUpdate(ctx context.Context, r *pb.MemberUpdateRequest) (*pb.MemberUpdateResponse, error) {
	if err := c.admin(ctx, r.ID); err != nil {
		return nil, err
	}
	return nil, errOneMember
}

// MemberPromote is refused: the only member votes.
func (c *clusterService) MemberPromote(ctx context.Context, r *pb.MemberPromoteRequest) (*pb.MemberPromoteResponse, error) {
	if err := c.admin(ctx, r.ID); err != nil {
		return nil, err
	}
	return nil, rpctypes.ErrGRPCMemberNotLearner
}
