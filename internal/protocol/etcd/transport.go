package etcd

import (
	"errors"
	"math"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	"fiveways/internal/protocol"
)

// transport carries the calls of gRPC over connections. It knows nothing of etcd.
type transport interface {
	grpc.ServiceRegistrar
	// Session serves one connection of HTTP/2. What was read of it stands in read.
	Session(nc net.Conn, id uint64, read []byte) protocol.Session
	// Start is called once, when all services are registered.
	Start()
	// Close ends what runs beside sessions, when there are none any more.
	Close() error
}

// What etcd does by default (embed.DefaultGRPCKeepAlive…): clients may ping every five seconds while a call runs; a connection that has been
// quiet for two hours is probed.
const (
	minPingInterval = 5 * time.Second
	quietBeforePing = 2 * time.Hour
	pingTimeout     = 20 * time.Second
)

// requestOverhead is what a message may have beyond the limit of requests before it is refused unread, as in etcd.
const requestOverhead = 512 << 10

// grpcTransport is grpc-go's server, fed with connections that somebody else accepted.
type grpcTransport struct {
	*grpc.Server
	conns *handOver
	drain func()
	ended chan error
}

func newTransport(s *Server) transport {
	t := &grpcTransport{conns: newHandOver(), ended: make(chan error, 1)}
	t.Server = grpc.NewServer(
		grpc.MaxRecvMsgSize(s.o.MaxRequestBytes+requestOverhead), grpc.MaxSendMsgSize(math.MaxInt32), grpc.MaxConcurrentStreams(math.MaxUint32),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: minPingInterval}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: quietBeforePing, Timeout: pingTimeout}),
		grpc.UnaryInterceptor(s.interceptUnary), grpc.StreamInterceptor(s.interceptStream),
	)
	t.drain = sync.OnceFunc(func() { go t.Server.GracefulStop() })
	return t
}

// Start lets the server take connections.
func (t *grpcTransport) Start() { go func() { t.ended <- t.Server.Serve(t.conns) }() }

// Session gives the connection to grpc-go.
func (t *grpcTransport) Session(nc net.Conn, _ uint64, read []byte) protocol.Session {
	return t.conns.session(&headed{nc.(*clientConn), read}, t.drain)
}

// Close stops the server.
func (t *grpcTransport) Close() error {
	t.Server.Stop()
	if err := <-t.ended; !errors.Is(err, grpc.ErrServerStopped) { // it was stopped before it ran
		return err
	}
	return nil
}
