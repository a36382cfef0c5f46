package etcd

import (
	"context"
	"errors"
	"net"
	"strings"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/server/v3/auth"
	"go.etcd.io/etcd/server/v3/lease"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/keyspace"
	"fiveways.dev/fiveways/internal/keyspace/grants"
)

// guest is the user of a client that does not log in while access control is off. The client must
// be on this machine, and guest must have the well-known password.
const guest = "guest"

// identity is the user of a call.
type identity struct {
	user          string // of the broker; "": access control is on and the client has not logged in
	loopback      bool   // the client is on this machine
	root          bool   // may do everything: access control is on, and the user has the role root
	administrator bool   // may change users while access control is off

	// info identifies the user for role checks, at the revision of the roles when the call arrived.
	info grants.Info
	// session is the user's session of the engine, with its permissions on queues. It is nil
	// without a user, for an internal call, and if there is no virtual host "/".
	session *broker.Session
	over    context.Context // ends when the user has lost all permissions here; nil: never
}

type identityKey struct{}

// afterwardsKey marks the context of work that is done for a caller after its call, when its
// connection may be closed. Its value is the caller's identity.
type afterwardsKey struct{}

// openMethods need no login even if access control is on. They need none in etcd either.
var openMethods = map[string]bool{
	pb.Auth_Authenticate_FullMethodName: true,
	pb.Auth_AuthStatus_FullMethodName:   true,
	"/grpc.health.v1.Health/Check":      true,
	"/grpc.health.v1.Health/Watch":      true,
	"/grpc.health.v1.Health/List":       true,
}

// admit authenticates the caller of a method and keeps the identity in the context, also for the
// store. Anonymous callers may call only openMethods and watch streams, which check each watch
// separately.
func (s *Server) admit(ctx context.Context, method string) (context.Context, error) {
	if openMethods[method] {
		return ctx, nil
	}
	who, err := s.identify(ctx)
	if err != nil {
		return nil, err
	}
	if who.user == "" && method != pb.Watch_Watch_FullMethodName {
		return nil, rpctypes.ErrGRPCUserEmpty
	}
	return keyspace.WithWho(context.WithValue(ctx, identityKey{}, who), who.info), nil
}

// whileSeated calls f when the user of ctx loses all permissions here. Calling stop cancels that.
func whileSeated(ctx context.Context, f func()) (stop func() bool) {
	who, _ := ctx.Value(identityKey{}).(*identity)
	if who == nil || who.over == nil {
		return func() bool { return true }
	}
	return context.AfterFunc(who.over, f)
}

// unseated returns the error that ends streams of a user who has lost all permissions here, or nil
// while the user has some.
func unseated(ctx context.Context) error {
	who, _ := ctx.Value(identityKey{}).(*identity)
	switch {
	case who == nil || who.over == nil || who.over.Err() == nil:
		return nil
	case errors.Is(context.Cause(who.over), failure.ErrUserDeleted):
		return rpctypes.ErrGRPCInvalidAuthToken
	}
	return rpctypes.ErrGRPCStopped
}

// admitUnary and admitStream admit internal calls.
func (s *Server) admitUnary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	ctx, err := s.admit(ctx, info.FullMethod)
	if err != nil {
		return nil, err
	}
	return handler(ctx, req)
}

func (s *Server) admitStream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
	defer s.survive(stream.Context(), info.FullMethod, &err) // it has its own goroutine
	ctx, err := s.admit(stream.Context(), info.FullMethod)
	if err != nil {
		return err
	}
	return handler(srv, &streamOf{stream, ctx})
}

// identify returns the current identity of a caller. It is called again on open streams, since
// permissions change. Errors are etcd's.
func (s *Server) identify(ctx context.Context) (*identity, error) {
	if was, ok := ctx.Value(identityKey{}).(*identity); ok && ctx.Value(afterwardsKey{}) != nil {
		who := *was
		who.info.Revision = s.grants.Revision()
		return &who, nil
	}
	var addr net.Addr
	if p, ok := peer.FromContext(ctx); ok {
		addr = p.Addr
	}
	md, _ := metadata.FromIncomingContext(ctx)
	return s.identifyToken(tokenIn(md), addr)
}

// tokenIn returns the token of a call, or "". An empty token does not hide another one: a caller
// with a token must never be taken for a caller without.
func tokenIn(md metadata.MD) string {
	for _, field := range [...]string{rpctypes.TokenFieldNameGRPC, rpctypes.TokenFieldNameSwagger} {
		for _, v := range md[field] {
			if v = strings.TrimPrefix(v, "Bearer "); v != "" {
				return v
			}
		}
	}
	return ""
}

// identifyToken returns the identity for a token and an address; the token "" means none. Errors
// are etcd's.
func (s *Server) identifyToken(token string, addr net.Addr) (*identity, error) {
	who := &identity{loopback: addr != nil && isLoopback(addr)}
	controlled := s.grants.Enabled()
	t, st, err := s.showing(token, addr, who.loopback)
	switch {
	case err != nil:
		return nil, reply(err)
	case t != nil:
		who.user, who.root = t.user, st.root && controlled
		// A login takes away nothing that the client may do without it.
		g := s.accounts.trustsGuest()
		who.administrator = st.administrator || st.root || who.loopback && g.trusted && g.administrator
		who.info = grants.Info{Username: t.user, Revision: s.grants.Revision()}
	case controlled:
		return who, nil
	default:
		g := s.accounts.trustsGuest()
		if !who.loopback || !g.trusted {
			return nil, rpctypes.ErrGRPCUserEmpty
		}
		who.user, who.administrator = guest, g.administrator
	}
	if err := s.sit(who, addr); err != nil {
		return nil, reply(err)
	}
	return who, nil
}

// showing returns the login of a caller with a token or a certificate, or nil for a caller with
// neither. Errors are those of holder.
func (s *Server) showing(text string, addr net.Addr, loopback bool) (*token, *standing, error) {
	if text != "" {
		return s.accounts.holder(text, loopback)
	}
	if client, ok := addr.(agentAddr); ok && client.agent != nil {
		return s.accounts.certified(client.agent)
	}
	return nil, nil, nil
}

// sit assigns the caller its seat on the connection. Without a virtual host "/" there are no
// queues, but ordinary keys are still served. Errors are those of agent.seat.
func (s *Server) sit(who *identity, addr net.Addr) error {
	client, ok := addr.(agentAddr)
	if !ok {
		return nil
	}
	st, err := client.agent.seat(who.user)
	if errors.Is(err, failure.ErrVHostNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if who.session, who.over = st.session, st.over; who.root {
		who.session, err = client.agent.operate()
	}
	return err
}

// mayRange checks that the caller may read the keys from key to end, where end is as in a
// RangeRequest.
func (s *Server) mayRange(who *identity, key, end []byte) error {
	return s.grants.MayRange(&who.info, key, end)
}

// mayPut checks that the caller may write a key, including access to the old value and the lease.
// The store checks again in log order; this check keeps rejected requests out of the log.
func (s *Server) mayPut(who *identity, r *pb.PutRequest) error {
	return s.grants.MayPut(&who.info, r, s.keys.Lessor())
}

// mayDelete checks that the caller may delete the keys of a request.
func (s *Server) mayDelete(who *identity, r *pb.DeleteRangeRequest) error {
	return s.grants.MayDelete(&who.info, r)
}

// mayTxn checks that the caller may do everything in a transaction, including the branch that is
// not taken. Virtual keys are left out: roles do not cover them.
func (s *Server) mayTxn(who *identity, r *pb.TxnRequest) error {
	if !s.grants.Enabled() {
		return nil
	}
	return s.grants.MayTxn(&who.info, s.virtual.ordinaryPart(r), s.keys.Lessor())
}

// mayEndLease checks that the caller may revoke a lease, which takes write permission on all its
// keys.
func (s *Server) mayEndLease(who *identity, id lease.LeaseID) error {
	return s.grants.MayEndLease(&who.info, id, s.keys.Lessor())
}

// mayAdminister checks that the caller may do what is reserved for root: compaction, alarms,
// members. While access control is off every caller may, as in etcd.
func (s *Server) mayAdminister(who *identity) error { return s.grants.MayAdminister(&who.info) }

// mayChangeUsers checks that the caller may see and change users and roles. The users are the
// broker's, and its administrators may do everything. So while access control is off, only
// administrators and users with the role root may.
func (s *Server) mayChangeUsers(who *identity) error {
	if !s.grants.Enabled() && !who.administrator {
		return auth.ErrPermissionDenied
	}
	return s.grants.MayAdminister(&who.info)
}
