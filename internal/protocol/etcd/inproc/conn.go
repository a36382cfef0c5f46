// Package inproc calls gRPC services of the same process without a socket and without encoding.
//
// A [Conn] is both sides: services are registered with it as with a server, and generated clients
// call them as over a connection. A unary method runs on its caller's goroutine, a stream on one of
// its own. Messages are copied, so neither side sees later changes by the other.
//
// The service gets the caller's context: values, deadline, cancellation. It receives the metadata
// that the caller received itself, followed by the metadata that the caller sends, and the caller's
// peer. So a call that is made while serving another one has the identity of the same client. The
// peer can be set with peer.NewContext.
package inproc

import (
	"context"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Conn holds services and calls them. All services must be registered before the first call. After
// that any goroutine may call.
type Conn struct {
	interceptUnary  grpc.UnaryServerInterceptor
	interceptStream grpc.StreamServerInterceptor
	unary           map[string]unaryMethod
	streams         map[string]streamMethod
}

type unaryMethod struct {
	service any
	desc    grpc.MethodDesc
}

type streamMethod struct {
	service any
	desc    grpc.StreamDesc
}

var (
	_ grpc.ServiceRegistrar    = (*Conn)(nil)
	_ grpc.ClientConnInterface = (*Conn)(nil)
)

// New returns a connection without services. Either interceptor may be nil.
func New(unary grpc.UnaryServerInterceptor, stream grpc.StreamServerInterceptor) *Conn {
	return &Conn{interceptUnary: unary, interceptStream: stream, unary: map[string]unaryMethod{}, streams: map[string]streamMethod{}}
}

// RegisterService implements grpc.ServiceRegistrar.
func (c *Conn) RegisterService(desc *grpc.ServiceDesc, service any) {
	for _, m := range desc.Methods {
		c.unary["/"+desc.ServiceName+"/"+m.MethodName] = unaryMethod{service, m}
	}
	for _, m := range desc.Streams {
		c.streams["/"+desc.ServiceName+"/"+m.StreamName] = streamMethod{service, m}
	}
}

// Invoke calls a unary method. Its errors carry a status.
func (c *Conn) Invoke(ctx context.Context, method string, args, reply any, opts ...grpc.CallOption) error {
	m, ok := c.unary[method]
	if !ok {
		return status.Errorf(codes.Unimplemented, "unknown method %s", method)
	}
	info := &callInfo{method: method}
	defer info.tell(opts)
	decode := func(in any) error { return copyMessage(in, args) }
	out, err := m.desc.Handler(m.service, serverContext(ctx, info), decode, c.interceptUnary)
	if err != nil {
		return withStatus(err)
	}
	return withStatus(copyMessage(reply, out))
}

// serverContext converts the context of the caller to the one that the service receives.
func serverContext(ctx context.Context, info *callInfo) context.Context {
	received, _ := metadata.FromIncomingContext(ctx)
	sent, _ := metadata.FromOutgoingContext(ctx)
	ctx = metadata.NewOutgoingContext(ctx, nil)
	ctx = metadata.NewIncomingContext(ctx, metadata.Join(received, sent))
	return grpc.NewContextWithServerTransportStream(ctx, info)
}

func copyMessage(dst, src any) error {
	to, ok1 := dst.(proto.Message)
	from, ok2 := src.(proto.Message)
	if !ok1 || !ok2 {
		return fmt.Errorf("inproc: %T and %T are not both messages", dst, src)
	}
	proto.Reset(to)
	proto.Merge(to, from)
	return nil
}

// withStatus converts an error to the status that a client would receive over a connection.
func withStatus(err error) error {
	if err == nil {
		return nil
	}
	if s, ok := status.FromError(err); ok {
		return s.Err()
	}
	if s := status.FromContextError(err); s.Code() != codes.Unknown {
		return s.Err()
	}
	return status.Error(codes.Unknown, err.Error())
}
