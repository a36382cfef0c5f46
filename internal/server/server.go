// Package server is the composition root: it opens the engine on its data folder, starts the
// listener of each protocol, and stops them in the right order.
//
// Start returns once every listener serves, or an error with nothing left behind. Drain is complete
// on return and safe to call twice.
//
// A Server holds what a node has as long as it runs: its addresses, its certificate, its logs. A
// leadership holds what serves a broker. It may end, and another one may be created for the next
// broker.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/shardlog"
	"fiveways.dev/fiveways/internal/cluster"
	"fiveways.dev/fiveways/internal/cluster/control"
	"fiveways.dev/fiveways/internal/cluster/proxy"
	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
	"fiveways.dev/fiveways/internal/traces"
)

// ErrAddrInUse and ErrLocked mean that another process uses a listen address or the data folder.
var (
	ErrAddrInUse = errors.New("address already in use")
	ErrLocked    = errors.New("data folder in use by another broker")
)

// HeapLimit returns the heap size at which the garbage collector of a process that is only a broker
// should work harder (debug.SetMemoryLimit). It is the memory limit of messages plus room for data
// in flight, connections, queues and buffers, plus the bytes that grow with keys and semaphores
// (Server.Kept).
func HeapLimit(cfg config.Config, kept int64) int64 {
	return cfg.MemoryLimit + cfg.MemoryLimit/4 + kept + kept/4 + 96<<20
}

// Server is a running node.
type Server struct {
	cfg     config.Config
	name    string // of the node
	version string
	started time.Time
	log     *slog.Logger
	tls     *protocol.TLS // nil: everything is plain
	audit   *protocol.Audit
	traces  *traces.Exporter // nil: off

	definitions *definitionsFile // nil: none

	listeners map[string][]net.Listener // by configuration key; their connections have completed their handshake
	addrs     map[string]string
	ends      []Endpoint

	broker   *broker.Broker   // of a single node
	node     *cluster.Node    // nil: a single node
	proxy    *proxy.Proxy     // nil: a single node
	cluster  *control.Control // nil: a single node
	control  net.Listener     // of a node of a cluster; nil: it could not be opened
	doors    sync.WaitGroup   // listeners of proxy
	machines atomic.Pointer[machines]

	mu   sync.Mutex
	lead *leadership // guarded by mu: nil while another node leads

	stop    context.CancelFunc // stops everything except the leadership
	running sync.WaitGroup     // what stop stops
	forced  context.Context    // ends when the drain must not wait any longer
	force   context.CancelFunc // ends forced
	once    sync.Once
	err     error
}

// Start opens the data folder and serves. version is reported to clients. Errors: ErrAddrInUse
// (naming the key), ErrLocked, store.ErrCorrupt, store.ErrUnsupportedFormat.
func Start(cfg config.Config, version string, log *slog.Logger) (*Server, error) {
	return startOn(nil, nil, cfg, version, log)
}

// startOn is Start with a wrapper for the engine's log, and with a lease that replaces the default
// one; either may be nil.
func startOn(wrap func(*store.Store) shardlog.Log, lease protocol.Lease, cfg config.Config, version string, log *slog.Logger) (*Server, error) {
	s, err := open(cfg, version, log)
	if err != nil {
		return nil, err
	}
	if err = checkFolder(cfg); err == nil {
		s.definitions, err = readDefinitions(cfg.LoadDefinitions)
	}
	switch {
	case err != nil:
	case cfg.ClusterListen != config.Off:
		err = s.startNode()
	default:
		err = s.startAlone(wrap, lease)
	}
	if err != nil {
		err = errors.Join(err, s.close())
		if errors.Is(err, vfs.ErrLocked) {
			err = ErrLocked
		}
		return nil, fmt.Errorf("data: %s: %w", cfg.Data, err)
	}
	return s, nil
}

// startAlone starts a single node.
func (s *Server) startAlone(wrap func(*store.Store) shardlog.Log, lease protocol.Lease) error {
	m := newMachines(s.cfg, s.log)
	s.machines.Store(m)
	o := s.brokerOptions(m)
	o.WrapLog = wrap
	b, err := broker.Open(vfs.OS{}, s.cfg.Data, o)
	if err != nil {
		return err
	}
	s.openAdmin()
	if s.lead, err = s.newLeadership(b, m, lease); err != nil {
		return errors.Join(err, b.Close())
	}
	s.definitions = nil // loaded; the content may be large
	s.broker = b
	s.lead.serve(s.listeners)
	return nil
}

// open opens everything that is not in the data folder. It opens the listeners first, so that a
// taken port is found before a long recovery.
func open(cfg config.Config, version string, log *slog.Logger) (*Server, error) {
	s := &Server{cfg: cfg, name: cfg.NodeName, started: time.Now(), version: version, log: log, addrs: map[string]string{}, listeners: map[string][]net.Listener{}}
	var err error
	if s.tls, err = openTLS(cfg, log); err != nil {
		return nil, err
	}
	if s.audit, err = OpenAudit(cfg, log); err != nil {
		return nil, err
	}
	listeners, err := listenAll(cfg, log)
	if err != nil {
		return nil, errors.Join(err, s.audit.Close())
	}
	s.ends = endpoints(listeners, s.tls != nil)
	for key, all := range listeners {
		s.addrs[key] = all[0].Addr().String()
		for _, l := range all {
			s.listeners[key] = append(s.listeners[key], s.tls.Listen(l, tlsModes[key]))
		}
	}
	s.forced, s.force = context.WithCancel(context.Background())
	s.watchTLS()
	if s.traces = newTraces(cfg, version, log); s.traces != nil {
		s.traces.Start()
	}
	return s, nil
}

// close closes everything except the leadership, its broker and the node.
func (s *Server) close() error {
	s.stop()
	closeAll(s.listeners)
	s.running.Wait()
	if s.traces != nil {
		s.traces.Stop()
	}
	var err error
	if m := s.machines.Load(); m != nil {
		err = m.close()
	}
	if s.listeners["admin"] != nil {
		err = errors.Join(err, os.Remove(AdminSocket(s.cfg)))
	}
	return errors.Join(err, s.audit.Close())
}

// Kept returns approximately how many bytes of the heap the index of the keys of etcd's API and the
// semaphores take. It grows and shrinks with them.
func (s *Server) Kept() int64 { return s.machines.Load().kept() }

// Semaphores returns the task semaphores of a single node. Drain closes them.
func (s *Server) Semaphores() *semaphores.Manager { return s.machines.Load().sems }

// Broker returns the engine of a single node. Drain closes it.
func (s *Server) Broker() *broker.Broker { return s.broker }

// Addrs returns the bound address of each protocol served, the first one if there are several, by
// its configuration key.
func (s *Server) Addrs() map[string]string { return s.addrs }

// Drain stops accepting, answers outstanding confirms, closes connections gracefully, and stops
// waiting for clients when ctx is done. It closes the data cleanly in any case. It may be called
// again, also while it runs; then the first context that is done counts, and all calls return the
// same error.
func (s *Server) Drain(ctx context.Context) error {
	defer context.AfterFunc(ctx, s.force)()
	s.once.Do(func() {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(s.forced, cancel)()
		s.stop()
		if s.node != nil {
			s.err = s.stopNode(ctx)
		} else {
			s.err = errors.Join(s.drainLeadership(ctx), s.broker.Close())
		}
		s.err = errors.Join(s.err, s.close())
	})
	return s.err
}
