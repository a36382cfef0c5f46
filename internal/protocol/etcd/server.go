package etcd

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/keyspace"
	"fiveways.dev/fiveways/internal/keyspace/grants"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/etcd/inproc"
)

// Options configures a Server. For a zero value the default in brackets applies.
type Options struct {
	protocol.Shared

	Version         string        // of this broker, for metrics
	NodeName        string        // of the member [fiveways]
	MaxRequestBytes int           // size of a request, as in the store [1.5 MiB, as in etcd]
	MaxTxnOps       int           // operations in a branch, including nested ones [128, as in etcd]
	MaxStreams      uint32        // open calls and streams of one connection [1,000]
	WatchProgress   time.Duration // silence before a progress notification [10 min]

	PutsAtOnce    bool          // puts to queues are answered without waiting for the disk
	ConsumerLimit int           // messages that a consumer of a queue may hold [256]
	ConsumerIdle  time.Duration // removes an idle consumer without watch and lease [1 min]

	Audit      *protocol.Audit // records administrative acts [in Log]
	FirstBytes time.Duration   // time from accept to the first bytes of a request [60 s]
	Patience   time.Duration   // to receive a request over HTTP/1, and to send its answer [1 min]
}

func (o Options) withDefaults(b *broker.Broker) Options {
	o.Shared = o.Shared.WithDefaults(b, time.Second)
	o.NodeName = cmp.Or(o.NodeName, "fiveways")
	o.MaxRequestBytes = cmp.Or(o.MaxRequestBytes, 1536<<10)
	o.MaxTxnOps = cmp.Or(o.MaxTxnOps, 128)
	o.FirstBytes = cmp.Or(o.FirstBytes, time.Minute)
	o.Patience = cmp.Or(o.Patience, requestPatience)
	return o
}

// Server serves the etcd v3 API in front of one broker and its store of keys.
type Server struct {
	*protocol.Edge

	broker *broker.Broker
	keys   *keyspace.Store
	o      Options
	log    *slog.Logger
	quiet  *slog.Logger // for events that clients can cause without a login

	accounts *accounts
	grants   *grants.Grants

	transport transport
	web       *webServer
	virtual   *virtualKeys
	identity  memberIdentity
	services  *services
	metrics   *metrics

	draining context.Context // canceled when Drain begins: streams end
	drain    context.CancelFunc
	closed   func() error // closes, once, everything except connections
}

// New returns a server; Serve starts it. The store must be started.
func New(b *broker.Broker, ks *keyspace.Store, o Options) *Server {
	s := &Server{broker: b, keys: ks, o: o.withDefaults(b)}
	s.log = s.o.Log
	s.quiet = protocol.Sparse(s.log)
	if s.o.Audit == nil {
		s.o.Audit, _ = protocol.OpenAudit("", s.log) // without a file it cannot fail
	}
	s.draining, s.drain = context.WithCancel(context.Background())
	s.grants = ks.Grants()
	s.accounts = newAccounts(s)
	if s.o.Cluster != nil {
		now := s.o.Cluster.Status()
		ks.ServeAs(now.Node, now.Term)
	}
	h := &pb.ResponseHeader{}
	ks.Fill(h)
	s.identity = memberIdentity{h.ClusterId, h.MemberId, h.RaftTerm}
	s.metrics = newMetrics(s)
	s.virtual = newVirtualKeys(s)
	s.transport = newTransport(s)
	s.services = newServices(s)
	s.services.register(s.transport)
	calls := inproc.New(s.interceptUnary, s.interceptStream)
	s.services.register(calls)
	s.web = newWebServer(s)
	gateway := s.bodies(newGateway(calls, 2*s.o.MaxRequestBytes+requestOverhead)) // base64 adds a third
	s.handle("/v3/", gateway)
	s.handle("/v3beta/", gateway)
	s.closed = sync.OnceValue(func() error {
		return errors.Join(s.web.Close(), s.virtual.Close())
	})
	s.Edge = protocol.NewEdge("etcd", s.log, s.open)
	return s
}

// Drain stops accepting, ends streams, answers the running calls, and closes all connections, by
// force when ctx ends. When it returns, no connection is left. It may be called again.
func (s *Server) Drain(ctx context.Context) error {
	s.drain()
	err := s.Edge.Drain(ctx)
	return errors.Join(err, s.closed())
}

// handle registers an HTTP/1 handler. The longest pattern wins.
func (s *Server) handle(pattern string, h http.Handler) { s.web.mux.Handle(pattern, h) }
