package etcd

import (
	"context"
	"net/url"
	"slices"
	"strconv"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"fiveways.dev/fiveways/internal/protocol"
)

// clusterService implements the service Cluster.
type clusterService struct {
	pb.UnimplementedClusterServer
	srv *Server
}

// Errors of membership changes that this API does not make.
var (
	errOneMember = status.Error(codes.FailedPrecondition, "etcdserver: not capable: this broker is a single node, its membership does not change")
	errByToken   = status.Error(codes.FailedPrecondition, "etcdserver: not capable: nodes join with a token, which `fiveways cluster token` prints, and keep their addresses")
)

// MemberList lists the members to every user, but not to a client without one, as in etcd since
// 3.5.29 and 3.6.10.
func (c *clusterService) MemberList(ctx context.Context, r *pb.MemberListRequest) (*pb.MemberListResponse, error) {
	h := &pb.ResponseHeader{} // without a revision, as in etcd
	c.srv.keys.Fill(h)
	return &pb.MemberListResponse{Header: h, Members: c.members(ctx)}, nil
}

// members returns all members. The client URL of the member that the client has connected to is the
// address that the client used, since another address may be unreachable from there.
func (c *clusterService) members(ctx context.Context) []*pb.Member {
	if c.srv.o.Cluster == nil {
		return []*pb.Member{{ID: c.srv.keys.MemberID(), Name: c.srv.o.NodeName, ClientURLs: usedURL(ctx, "http")}}
	}
	scheme := "http"
	if client := clientOf(ctx); client != nil && client.TLS != nil {
		scheme = "https" // a TLS client must not be sent to a plain-text port
	}
	now, reached := c.srv.o.Cluster.Status(), c.srv.reached(ctx)
	var all []*pb.Member
	for i := range now.Members {
		m := &now.Members[i]
		out := &pb.Member{ID: m.Node, Name: m.Name(), PeerURLs: []string{"https://" + m.Address}, IsLearner: !m.Votes()}
		if m.Node == reached {
			out.ClientURLs = usedURL(ctx, scheme)
		} else {
			out.ClientURLs = toldURLs(m.About, scheme)
		}
		all = append(all, out)
	}
	return all
}

// usedURL returns the address that the client has connected to.
func usedURL(ctx context.Context, scheme string) []string {
	if p, ok := peer.FromContext(ctx); ok && p.LocalAddr != nil {
		return []string{scheme + "://" + p.LocalAddr.String()}
	}
	return nil
}

// toldURLs returns the addresses at which another member says it serves this API.
func toldURLs(a *protocol.About, scheme string) (urls []string) {
	if a == nil {
		return nil
	}
	for _, e := range a.Endpoints {
		if e.Protocol == "etcd" {
			urls = append(urls, scheme+"://"+e.Address)
		}
	}
	return urls
}

// clientOf returns the connection of a caller, or nil for an internal call.
func clientOf(ctx context.Context) *protocol.Client {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return nil
	}
	a, ok := p.Addr.(agentAddr)
	if !ok {
		return nil
	}
	return a.agent.client
}

// reached returns the ID of the member that the client has connected to.
func (s *Server) reached(ctx context.Context) uint64 {
	if c := clientOf(ctx); c != nil && c.Node != 0 {
		return c.Node
	}
	return s.keys.MemberID()
}

// hasMember reports whether a member with the ID exists.
func (s *Server) hasMember(id uint64) bool {
	if s.o.Cluster == nil {
		return id == s.keys.MemberID()
	}
	now := s.o.Cluster.Status()
	return now.Member(id) != nil
}

// fixed returns the error of membership changes that this API does not make.
func (s *Server) fixed() error {
	if s.o.Cluster == nil {
		return errOneMember
	}
	return errByToken
}

// admin checks that the caller may change members, and that a member with the ID exists.
func (c *clusterService) admin(ctx context.Context, id uint64) error {
	who, err := c.srv.identify(ctx)
	if err != nil {
		return err
	}
	if err := c.srv.mayAdminister(who); err != nil {
		return reply(err)
	}
	if !c.srv.hasMember(id) {
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
	return nil, c.srv.fixed()
}

// isBadURL reports whether s is not the address of a member: scheme, host and port.
func isBadURL(s string) bool {
	u, err := url.Parse(s)
	return err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Port() == "" || u.Path != ""
}

// MemberRemove removes a member for good. The only member cannot be removed.
func (c *clusterService) MemberRemove(ctx context.Context, r *pb.MemberRemoveRequest) (*pb.MemberRemoveResponse, error) {
	if err := c.admin(ctx, r.ID); err != nil {
		return nil, err
	}
	if c.srv.o.Cluster == nil {
		return nil, rpctypes.ErrGRPCMemberNotEnoughStarted
	}
	err := c.srv.manage(ctx, "member removed", strconv.FormatUint(r.ID, 10), func() error { return c.srv.o.Cluster.Remove(ctx, r.ID) })
	if err != nil {
		return nil, err
	}
	h := &pb.ResponseHeader{}
	c.srv.keys.Fill(h)
	left := slices.DeleteFunc(c.members(ctx), func(m *pb.Member) bool { return m.ID == r.ID })
	return &pb.MemberRemoveResponse{Header: h, Members: left}, nil
}

// MemberUpdate is refused: the members' addresses do not change.
func (c *clusterService) MemberUpdate(ctx context.Context, r *pb.MemberUpdateRequest) (*pb.MemberUpdateResponse, error) {
	if err := c.admin(ctx, r.ID); err != nil {
		return nil, err
	}
	return nil, c.srv.fixed()
}

// MemberPromote is refused: a learner becomes a voter automatically once it has caught up.
func (c *clusterService) MemberPromote(ctx context.Context, r *pb.MemberPromoteRequest) (*pb.MemberPromoteResponse, error) {
	if err := c.admin(ctx, r.ID); err != nil {
		return nil, err
	}
	if c.srv.o.Cluster != nil {
		now := c.srv.o.Cluster.Status()
		if m := now.Member(r.ID); m != nil && !m.Votes() {
			return nil, rpctypes.ErrGRPCLearnerNotReady
		}
	}
	return nil, rpctypes.ErrGRPCMemberNotLearner
}
