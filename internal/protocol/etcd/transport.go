package etcd

import (
	"math"
	"net"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/etcd/listwire"
	"fiveways.dev/fiveways/internal/protocol/grpcwire"
)

// transport carries gRPC calls over connections. It is independent of etcd.
type transport interface {
	grpc.ServiceRegistrar
	// Session serves one connection of HTTP/2. read holds the bytes that were already read from it.
	Session(nc net.Conn, id uint64, read []byte) protocol.Session
}

// etcd's defaults (embed.DefaultGRPCKeepAlive…): clients may ping every five seconds while a call
// runs, and a connection that is silent for two hours gets a ping.
const (
	minPingInterval = 5 * time.Second
	quietBeforePing = 2 * time.Hour
	pingTimeout     = 20 * time.Second
)

// requestOverhead is by how much a message may exceed the request limit before it is refused
// unread, as in etcd.
const requestOverhead = 512 << 10

func newTransport(s *Server) transport {
	return grpcwire.New(grpcwire.Options{
		Log: s.log, Abandoned: status.Convert(rpctypes.ErrGRPCLeaderChanged), NewConn: s.newBatcher, Unary: s.interceptUnary, Stream: s.interceptStream,
		Encode:       listwire.Encode,
		MaxRecvBytes: s.o.MaxRequestBytes + requestOverhead, MaxSendBytes: math.MaxInt32, MaxStreams: s.o.MaxStreams,
		BytesIn: &s.metrics.received, BytesOut: &s.metrics.sent,
		PingEvery: quietBeforePing, PingTimeout: pingTimeout, MinPing: minPingInterval, HandshakeTimeout: s.o.FirstBytes,
	})
}
