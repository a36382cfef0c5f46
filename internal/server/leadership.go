package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/jobs"
	"fiveways.dev/fiveways/internal/monitor"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/amqp"
	"fiveways.dev/fiveways/internal/protocol/httpapi"
	"fiveways.dev/fiveways/internal/protocol/pgwire"
	"fiveways.dev/fiveways/internal/protocol/resp"
	"fiveways.dev/fiveways/internal/semaphores"
)

// leadership is everything that serves a broker: the protocols and the components beside them. It
// lasts as long as the broker: on a single node until it stops, on a node of a cluster while it
// leads.
type leadership struct {
	broker   *broker.Broker
	lease    protocol.Lease // nil: a single node
	sems     *semaphores.Manager
	keys     *etcdServer // nil: off, on a single node
	shared   common
	api      *httpapi.API
	amqp     *amqp.Server    // nil: off
	sql      *pgwire.Server  // nil: off
	redis    *resp.Server    // nil: off
	http     *httpapi.Server // nil: off
	metrics  *httpapi.Server // nil: off, or the node itself serves the metrics
	counters http.Handler    // the broker's metrics, which the node serves; nil: a single node
	admin    *httpapi.Server // nil: its socket could not be opened
	monitor  *monitor.Monitor
	shovels  *shovels
	log      *slog.Logger
	served   sync.WaitGroup // one for each listener
}

// newLeadership prepares everything that serves a broker. It returns errors of the changes that a
// start writes; then nothing is running.
func (s *Server) newLeadership(b *broker.Broker, m *machines, lease protocol.Lease) (*leadership, error) {
	l := &leadership{
		broker: b, lease: lease, sems: m.sems, keys: m.keys, log: s.log,
		shared: common{
			Shared: protocol.Shared{
				Semaphores: m.sems, Logins: protocol.NewLogins(b, s.tls), Clients: protocol.NewClients(), Connections: protocol.NewLimit(s.cfg.MaxConnections), Log: s.log,
			},
			version: s.version, audit: s.audit,
		},
	}
	if s.cluster != nil {
		l.shared.Cluster = s.cluster
	}
	if err := l.prepare(s); err != nil {
		l.sems.Stop()
		return nil, err
	}
	l.monitor = monitor.New(b, monitor.Options{Every: s.cfg.StatsInterval, Edge: l.shared.Clients.Observe, Log: s.log})
	l.shovels = newShovels(b, s.cfg, l.shared)
	l.api = httpapi.New(b, httpapi.Options{
		Semaphores: l.sems, Keys: l.keys.store(), Node: s.describe(l), Shovels: l.shovels.manager, Spans: counted(s.traces), Logins: l.shared.Logins, Audit: s.audit, Log: s.log,
	})
	if s.cluster != nil {
		l.counters = httpapi.MetricsHandler(l.api, s.cluster.WriteMetrics)
		b.WatchDisks(s.cluster.ShortOfDisk)
	}
	web := httpapi.ServerOptions{Clients: l.shared.Clients, Connections: l.shared.Connections, Log: s.log}
	if s.listeners["amqp"] != nil {
		l.amqp = amqp.New(b, amqpOptions(s.cfg, l.shared))
	}
	if s.listeners["sql"] != nil {
		l.sql = pgwire.New(b, sqlOptions(s.cfg, l.shared))
	}
	if s.listeners["redis"] != nil {
		l.redis = resp.New(b, redisOptions(s.cfg, l.shared))
	}
	if s.listeners["http"] != nil {
		l.http = httpapi.NewServer(l.api, web)
	}
	if s.listeners["metrics"] != nil && s.node == nil {
		l.metrics = httpapi.NewMetricsServer(l.api, web)
	}
	if s.listeners["admin"] != nil {
		l.admin = httpapi.NewServer(l.api, httpapi.ServerOptions{Operator: true, Patience: adminPatience, Log: s.log})
	}
	l.monitor.Start()
	l.shovels.start(lease)
	b.WhenLost(l.abandon)
	return l, nil
}

// prepare writes the changes that a start makes to the broker's state.
func (l *leadership) prepare(s *Server) error {
	jobs.Resume(l.broker)
	err := l.sems.Start(l.broker)
	if err == nil && l.keys != nil {
		err = l.keys.start(l.broker, s.cfg, l.shared)
	}
	if err == nil {
		err = httpapi.Identify(l.broker)
	}
	if err == nil && s.cfg.DefaultUser != "" {
		err = makeFirstUser(l.broker, s.cfg, s.log)
	}
	if err != nil || s.definitions == nil {
		return err
	}
	if s.cluster != nil {
		return s.definitions.loadOnce(l.broker, s.log)
	}
	return s.definitions.load(l.broker, s.log)
}

// serve accepts clients from the listeners of the enabled protocols.
func (l *leadership) serve(listeners map[string][]net.Listener) {
	with := map[string]func(net.Listener) error{}
	if l.amqp != nil {
		with["amqp"] = l.amqp.Serve
	}
	if l.sql != nil {
		with["sql"] = l.sql.Serve
	}
	if l.redis != nil {
		with["redis"] = l.redis.Serve
	}
	if l.keys != nil {
		with["etcd"] = l.keys.Serve
	}
	if l.http != nil {
		with["http"] = l.http.Serve
	}
	if l.metrics != nil {
		with["metrics"] = l.metrics.Serve
	}
	if l.admin != nil {
		with["admin"] = l.admin.Serve
	}
	for key, fn := range with {
		for _, ln := range listeners[key] {
			l.served.Go(func() {
				if err := fn(l.lease.Listen(ln)); err != nil {
					l.log.Error("listener stopped", "protocol", key, "addr", ln.Addr(), "err", err)
				}
			})
		}
	}
}

// abandon ends the sessions of all clients, including those on the admin socket, because this node
// no longer leads: it must not answer what only the leader may answer. The caller calls drain next.
// Metrics belong to the node and stay.
func (l *leadership) abandon() {
	l.log.Warn("this node has lost the lead: all sessions end")
	if l.amqp != nil {
		l.amqp.Abandon()
	}
	if l.sql != nil {
		l.sql.Abandon()
	}
	if l.redis != nil {
		l.redis.Abandon()
	}
	if l.keys != nil {
		l.keys.server.Abandon()
	}
	if l.http != nil {
		l.http.Abandon()
	}
	if l.admin != nil {
		l.admin.Abandon()
	}
	l.shovels.inside.Abandon()
}

// drain ends the sessions and everything that runs on the broker. It ends sessions by force when
// ctx is done. The caller closes or abandons the broker next.
func (l *leadership) drain(ctx context.Context) error {
	l.broker.Hurry()
	errs := append([]error{l.shovels.stop(ctx)}, l.drainProtocols(ctx)...)
	if l.admin != nil { // last, because an operator may want to watch the rest end
		errs = append(errs, l.admin.Drain(ctx))
	}
	l.served.Wait()
	l.monitor.Stop()
	l.sems.Stop()
	l.keys.stop()
	return errors.Join(errs...)
}

// drainProtocols drains the protocols concurrently, because they share the time.
func (l *leadership) drainProtocols(ctx context.Context) []error {
	errs := make([]error, 6)
	var all sync.WaitGroup
	if l.amqp != nil {
		all.Go(func() { errs[0] = l.amqp.Drain(ctx) })
	}
	if l.sql != nil {
		all.Go(func() { errs[1] = l.sql.Drain(ctx) })
	}
	if l.redis != nil {
		all.Go(func() { errs[2] = l.redis.Drain(ctx) })
	}
	if l.keys != nil {
		all.Go(func() { errs[3] = l.keys.drain(ctx) })
	}
	if l.http != nil {
		all.Go(func() { errs[4] = l.http.Drain(ctx) })
	}
	if l.metrics != nil {
		all.Go(func() { errs[5] = l.metrics.Drain(ctx) })
	}
	all.Wait()
	return errs
}
