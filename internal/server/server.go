// Package server is the composition root: it opens the engine on its data
// folder, starts the listener of each protocol, and stops them in the right
// order.
//
// Start returns once every listener serves, or an error with nothing left
// behind. Drain is complete on return and safe to call twice.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"fiveways/internal/broker"
	"fiveways/internal/broker/jobs"
	"fiveways/internal/broker/shardlog"
	"fiveways/internal/config"
	"fiveways/internal/firehose"
	"fiveways/internal/monitor"
	"fiveways/internal/policies"
	"fiveways/internal/protocol"
	"fiveways/internal/protocol/amqp"
	"fiveways/internal/protocol/httpapi"
	"fiveways/internal/protocol/pgwire"
	"fiveways/internal/protocol/resp"
	"fiveways/internal/semaphores"
	"fiveways/internal/storage/store"
	"fiveways/internal/storage/vfs"
	"fiveways/internal/traces"
)

// ErrAddrInUse and ErrLocked tell that a listen address or the data folder
// belongs to another process.
var (
	ErrAddrInUse = errors.New("address already in use")
	ErrLocked    = errors.New("data folder in use by another broker")
)

// HeapLimit is where the garbage collector of a process that is nothing but a
// broker should work harder (debug.SetMemoryLimit): what messages may use, with
// room for what is in flight and for connections, queues and buffers, and the
// bytes (Server.Kept) that grow with keys and semaphores.
func HeapLimit(cfg config.Config, kept int64) int64 {
	return cfg.MemoryLimit + cfg.MemoryLimit/4 + kept + kept/4 + 96<<20
}

// Server is a running node.
type Server struct {
	broker  *broker.Broker
	amqp    *amqp.Server    // nil: off
	sql     *pgwire.Server  // nil: off
	redis   *resp.Server    // nil: off
	etcd    *etcdServer     // nil: off
	http    *httpapi.Server // nil: off
	admin   *admin          // nil when it could not be served
	sems    *semaphores.Manager
	monitor *monitor.Monitor
	metrics *httpapi.Server // nil: off
	shovels *shovels
	tls     *protocol.TLS // nil: everything is plain
	logins  *protocol.Logins
	audit   *protocol.Audit
	traces  *traces.Exporter // nil: off
	log     *slog.Logger
	addrs   map[string]string
	ends    []Endpoint
	stop    context.CancelFunc // of what runs beside the protocols
	served  sync.WaitGroup
	forced  context.Context    // ends when the drain must not wait any longer
	force   context.CancelFunc // ends forced
	once    sync.Once
	err     error
}

var syncModes = map[string]store.SyncMode{
	config.SyncAlways: store.SyncAlways,
	config.SyncBatch:  store.SyncBatch,
	config.SyncOS:     store.SyncOS,
}

// fsyncs are the sync modes as Redis' appendfsync would have them.
var fsyncs = map[string]string{config.SyncAlways: "always", config.SyncBatch: "always", config.SyncOS: "everysec"}

// Start opens the data folder and serves. version is what clients are told. Errors: ErrAddrInUse
// (naming the key), ErrLocked, store.ErrCorrupt, store.ErrUnsupportedFormat.
func Start(cfg config.Config, version string, log *slog.Logger) (*Server, error) {
	return startOn(nil, cfg, version, log)
}

// startOn is Start with something between the engine and its log; nil: nothing.
func startOn(wrap func(*store.Store) shardlog.Log, cfg config.Config, version string, log *slog.Logger) (*Server, error) {
	// The listeners come first: a taken port is found before a long recovery.
	secure, err := openTLS(cfg, log)
	if err != nil {
		return nil, err
	}
	audit, err := OpenAudit(cfg, log)
	if err != nil {
		return nil, err
	}
	listeners, err := listenAll(cfg, log)
	if err != nil {
		return nil, errors.Join(err, audit.Close())
	}
	keys, sems := newEtcd(cfg, log), semaphores.New(semaphores.Options{MaxBytes: cfg.MemoryLimit, Logger: log})
	spans := newTraces(cfg, version, log)
	b, err := broker.Open(vfs.OS{}, cfg.Data, broker.Options{
		Sync: syncModes[cfg.Sync], BatchDelay: cfg.BatchDelay, Shards: cfg.Shards,
		MemoryLimit: cfg.MemoryLimit, DiskFreeLimit: cmp.Or(cfg.DiskFreeLimit, -1), Logger: log,
		Conditions: pgwire.Conditions(), Order: pgwire.OrderOf, StateMachines: stateMachines(keys, sems), Policies: policies.Engine{},
		Traces: heard(spans), Tap: firehose.Of(cfg.NodeName), WrapLog: wrap,
	})
	if err != nil {
		closeAll(listeners)
		err = errors.Join(err, keys.close(), audit.Close())
		if errors.Is(err, vfs.ErrLocked) {
			return nil, fmt.Errorf("data: %s: %w", cfg.Data, ErrLocked)
		}
		return nil, fmt.Errorf("data: %s: %w", cfg.Data, err)
	}
	all := common{
		Shared: protocol.Shared{
			Semaphores: sems, Logins: protocol.NewLogins(b, secure), Clients: protocol.NewClients(), Connections: protocol.NewLimit(cfg.MaxConnections), Log: log,
		},
		version: version, audit: audit,
	}
	jobs.Resume(b)
	err = sems.Start(b)
	if err == nil && keys != nil {
		err = keys.start(b, cfg, all)
	}
	if err == nil {
		err = httpapi.Identify(b)
	}
	if err == nil && cfg.DefaultUser != "" {
		err = makeFirstUser(b, cfg, log)
	}
	if err == nil && cfg.LoadDefinitions != "" {
		err = loadDefinitions(b, cfg.LoadDefinitions, log)
	}
	if err != nil {
		closeAll(listeners)
		sems.Stop()
		return nil, fmt.Errorf("data: %s: %w", cfg.Data, errors.Join(err, b.Close(), keys.close(), audit.Close()))
	}
	s := &Server{broker: b, sems: sems, etcd: keys, tls: secure, logins: all.Logins, audit: audit, traces: spans, log: log, addrs: map[string]string{}}
	s.forced, s.force = context.WithCancel(context.Background())
	s.watchTLS()
	node := s.describe(cfg, all, listeners)
	s.ends = endpoints(listeners, secure != nil)
	s.shovels = newShovels(b, cfg, all)
	api := httpapi.New(b, httpapi.Options{
		Semaphores: sems, Keys: keys.store(), Node: node, Shovels: s.shovels.manager, Spans: counted(spans), Logins: all.Logins, Audit: audit, Log: log,
	})
	s.monitor.Start()
	if spans != nil {
		spans.Start()
	}
	if s.admin, err = startAdmin(api, cfg, log); err != nil {
		log.Warn("the admin socket cannot be opened; administration needs a stopped broker", "err", err)
	}
	if l := listeners["amqp"]; l != nil {
		s.amqp = amqp.New(b, amqpOptions(cfg, all))
		s.serve("amqp", l, s.amqp.Serve)
	}
	if l := listeners["sql"]; l != nil {
		s.sql = pgwire.New(b, sqlOptions(cfg, all))
		s.serve("sql", l, s.sql.Serve)
	}
	if l := listeners["redis"]; l != nil {
		s.redis = resp.New(b, redisOptions(cfg, all))
		s.serve("redis", l, s.redis.Serve)
	}
	if l := listeners["etcd"]; l != nil {
		s.serve("etcd", l, s.etcd.Serve)
	}
	if l := listeners["http"]; l != nil {
		s.http = httpapi.NewServer(api, httpapi.ServerOptions{Clients: all.Clients, Connections: all.Connections, Log: log})
		s.serve("http", l, s.http.Serve)
	}
	if l := listeners["metrics"]; l != nil {
		s.metrics = httpapi.NewMetricsServer(api, httpapi.ServerOptions{Clients: all.Clients, Connections: all.Connections, Log: log})
		s.serve("metrics", l, s.metrics.Serve)
	}
	s.shovels.start()
	b.WhenLost(s.abandon)
	return s, nil
}

// abandon ends the sessions of all clients, those on the admin socket included, because this node
// does not lead any more: nothing that only it knows is answered. Drain follows. Metrics are the
// node's own and stay.
func (s *Server) abandon() {
	s.log.Warn("leadership is lost: all sessions end")
	if s.amqp != nil {
		s.amqp.Abandon()
	}
	if s.sql != nil {
		s.sql.Abandon()
	}
	if s.redis != nil {
		s.redis.Abandon()
	}
	if s.etcd != nil {
		s.etcd.server.Abandon()
	}
	if s.http != nil {
		s.http.Abandon()
	}
	if s.admin != nil {
		s.admin.http.Abandon()
	}
	s.shovels.inside.Abandon()
}

// Kept is about how many bytes of the heap the index of the keys of etcd's API and the semaphores
// take. It grows and shrinks with them.
func (s *Server) Kept() int64 {
	n := s.sems.Bytes()
	if s.etcd != nil {
		n += s.etcd.keys.IndexBytes()
	}
	return n
}

// Semaphores are the task semaphores. They are closed by Drain.
func (s *Server) Semaphores() *semaphores.Manager { return s.sems }

// Broker is the engine. It is closed by Drain.
func (s *Server) Broker() *broker.Broker { return s.broker }

// Addrs gives the bound address of each protocol served, the first one when there are several, by
// its configuration key.
func (s *Server) Addrs() map[string]string { return s.addrs }

// Drain stops accepting, answers outstanding confirms, closes politely, and gives up on clients at
// ctx's deadline. The data is closed cleanly in any case. It may be called again, also while it
// runs: the first of the contexts that ends is the end of patience, and all are told the same.
func (s *Server) Drain(ctx context.Context) error {
	defer context.AfterFunc(ctx, s.force)()
	s.once.Do(func() {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(s.forced, cancel)()
		s.stop()
		s.broker.Hurry()
		errs := append([]error{s.shovels.stop(ctx)}, s.drainProtocols(ctx)...)
		if s.admin != nil {
			errs = append(errs, s.admin.stop(ctx))
		}
		s.served.Wait()
		s.monitor.Stop()
		s.sems.Stop()
		s.etcd.stop()
		s.err = errors.Join(append(errs, s.broker.Close(), s.etcd.close(), s.audit.Close())...)
		if s.traces != nil {
			s.traces.Stop()
		}
	})
	return s.err
}

// drainProtocols drains them side by side: they share the time.
func (s *Server) drainProtocols(ctx context.Context) []error {
	errs := make([]error, 6)
	var all sync.WaitGroup
	if s.amqp != nil {
		all.Go(func() { errs[0] = s.amqp.Drain(ctx) })
	}
	if s.sql != nil {
		all.Go(func() { errs[1] = s.sql.Drain(ctx) })
	}
	if s.redis != nil {
		all.Go(func() { errs[2] = s.redis.Drain(ctx) })
	}
	if s.etcd != nil {
		all.Go(func() { errs[3] = s.etcd.drain(ctx) })
	}
	if s.http != nil {
		all.Go(func() { errs[4] = s.http.Drain(ctx) })
	}
	if s.metrics != nil {
		all.Go(func() { errs[5] = s.metrics.Drain(ctx) })
	}
	all.Wait()
	return errs
}

// common is what the protocols share.
type common struct {
	protocol.Shared
	version string // of this build
	audit   *protocol.Audit
}

func amqpOptions(cfg config.Config, c common) amqp.Options {
	return amqp.Options{
		Shared:  c.Shared,
		Product: cfg.AMQPProduct, Version: cfg.RabbitMQVersion, Build: c.version, NodeName: cfg.NodeName, FrameMax: uint32(cfg.FrameMax), ChannelMax: uint16(cfg.ChannelMax),
		ChannelConsumers: cfg.ChannelConsumers,
		ConsumerTimeout:  cfg.ConsumerTimeout, ConsumerTimeoutCloses: cfg.ConsumerTimeoutAction == config.ConsumerTimeoutClose,
		Heartbeat: cfg.Heartbeat, MaxMessageSize: cfg.MaxMessageSize,
	}
}

func sqlOptions(cfg config.Config, c common) pgwire.Options {
	return pgwire.Options{
		Shared:         c.Shared,
		MaxMessageSize: cfg.MaxMessageSize, IdleTransactionTimeout: cfg.SQLIdleTransactionTimeout,
	}
}

func redisOptions(cfg config.Config, c common) resp.Options {
	return resp.Options{
		Shared:  c.Shared,
		Version: c.version, NodeName: cfg.NodeName, MaxMessageSize: cfg.MaxMessageSize, MemoryLimit: cfg.MemoryLimit,
		Fsync: fsyncs[cfg.Sync],
	}
}
