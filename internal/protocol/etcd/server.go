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

// Options configure a Server. A zero value means the default in brackets.
type Options struct {
	protocol.Shared

	Version         string        // of this broker, for metrics
	NodeName        string        // of the member [fiveways]
	MaxRequestBytes int           // of one request, as the store has it [1.5 MiB, etcd's default]
	MaxTxnOps       int           // operations in one branch of a transaction, with those inside of it [128, etcd's default]
	MaxStreams      uint32        // calls and streams that one connection may have open [1,000]
	WatchProgress   time.Duration // how long a watcher that asked for progress may hear nothing [10 min]

	PutsAtOnce    bool          // puts to queues are answered without waiting for the disk
	ConsumerLimit int           // messages that a consumer of a queue holds [256]
	ConsumerIdle  time.Duration // a consumer without watch and lease goes after so long without a request [1 min]

	Audit      *protocol.Audit // where administrative acts are recorded [in Log]
	FirstBytes time.Duration   // from accept to the first bytes of a request [60 s]
	Patience   time.Duration   // for a request over HTTP/1 to come in, and for its answer to go out [1 min]
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
	quiet  *slog.Logger // for what clients can cause that have not logged in

	accounts *accounts
	grants   *grants.Grants

	transport transport
	web       *webServer
	virtual   *virtualKeys
	identity  memberIdentity
	services  *services
	metrics   *metrics

	draining context.Context // over once Drain has begun: streams end
	drain    context.CancelFunc
	closed   func() error // closes, once, what runs beside connections
}

// New returns a server; Serve starts it. The store must have been started.
func New(b *broker.Broker, ks *keyspace.Store, o Options) *Server {
	s := &Server{broker: b, keys: ks, o: o.withDefaults(b)}
	s.log = s.o.Log
	s.quiet = protocol.Sparse(s.log)
	if s.o.Audit == nil {
		s.o.Audit, _ = protocol.OpenAudit("", s.log) // without a file nothing can fail
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
	gateway := s.bodies(newGateway(calls, 2*s.o.MaxRequestBytes+requestOverhead)) // base64 makes them longer by a third
	s.handle("/v3/", gateway)
	s.handle("/v3beta/", gateway)
	s.closed = sync.OnceValue(func() error {
		return errors.Join(s.web.Close(), s.virtual.Close())
	})
	s.Edge = protocol.NewEdge("etcd", s.log, s.open)
	return s
}

// Drain stops accepting, ends streams, answers the calls that run, and closes all connections; at
// the end of ctx by force. When it returns no connection is left. It may be called again.
func (s *Server) Drain(ctx context.Context) error {
	s.drain()
	err := s.Edge.Drain(ctx)
	return errors.Join(err, s.closed())
}

// handle adds a handler to what is served over HTTP/1; the longest pattern wins.
func (s *Server) handle(pattern string, h http.Handler) { s.web.mux.Handle(pattern, h) }
