package etcd

import (
	"context"
	"net"
	"runtime/debug"
	"unicode/utf8"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"fiveways.dev/fiveways/internal/protocol/grpcwire"
)

// errPanic is all that a client learns about a panic; the log has the rest.
var errPanic = status.Error(codes.Internal, "etcdserver: internal error: see the log of the server")

// interceptUnary wraps every unary call.
func (s *Server) interceptUnary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (resp any, err error) {
	count := s.metrics.begin(info.FullMethod, kindUnary)
	defer func() { count(err) }()
	defer s.survive(ctx, info.FullMethod, &err)
	if ctx, err = s.enter(ctx, info.FullMethod); err != nil {
		return nil, err
	}
	if bulky(req) {
		if err := grpcwire.AwaitAnswerSlot(ctx); err != nil {
			return nil, status.FromContextError(err).Err()
		}
	}
	return handler(ctx, req)
}

// interceptStream wraps every stream. The context of the stream ends when the client disconnects,
// when its user is deleted, and when the server drains.
func (s *Server) interceptStream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) (err error) {
	kind := kindServerStream
	if info.IsClientStream {
		kind = kindBidiStream
	}
	count := s.metrics.begin(info.FullMethod, kind)
	defer func() { count(err) }()
	ctx, cancel := context.WithCancel(stream.Context())
	defer cancel()
	defer s.survive(ctx, info.FullMethod, &err)
	defer context.AfterFunc(s.draining, cancel)()
	if ctx, err = s.enter(ctx, info.FullMethod); err != nil {
		return err
	}
	defer whileSeated(ctx, cancel)()
	err = handler(srv, &streamOf{stream, ctx})
	switch over := unseated(ctx); {
	case err == nil || stream.Context().Err() != nil:
		return err
	case s.draining.Err() != nil:
		return rpctypes.ErrGRPCStopped // the client reconnects here or elsewhere
	case over != nil:
		return over
	}
	return err
}

// streamOf is a stream with another context.
type streamOf struct {
	grpc.ServerStream
	ctx context.Context
}

func (s *streamOf) Context() context.Context { return s.ctx }

// enter begins every call: it checks the client's version and authenticates the caller.
func (s *Server) enter(ctx context.Context, method string) (context.Context, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	if v := md.Get(rpctypes.MetadataClientAPIVersionKey); len(v) > 0 && !utf8.ValidString(v[0]) {
		return nil, rpctypes.ErrGRPCInvalidClientAPIVersion
	}
	return s.admit(ctx, method)
}

// survive recovers from a panic in a call, so that other calls continue.
func (s *Server) survive(ctx context.Context, method string, err *error) {
	if p := recover(); p != nil {
		s.log.Error("etcd: a call failed by a panic", "method", method, "peer", peerOf(ctx), "panic", p, "stack", string(debug.Stack()))
		*err = errPanic
	}
}

// addrOf returns the address of the client. Without one it returns an address that is not local.
func addrOf(ctx context.Context) net.Addr {
	p, ok := peer.FromContext(ctx)
	if !ok || p.Addr == nil {
		return &net.TCPAddr{}
	}
	if a, ok := p.Addr.(agentAddr); ok {
		return a.Addr
	}
	return p.Addr
}

// peerOf returns the address of the client for the log.
func peerOf(ctx context.Context) string {
	if p, ok := peer.FromContext(ctx); ok && p.Addr != nil {
		return p.Addr.String()
	}
	return "this process"
}
