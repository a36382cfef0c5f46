package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/cluster"
	"fiveways.dev/fiveways/internal/cluster/control"
	"fiveways.dev/fiveways/internal/cluster/proxy"
	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/amqp"
	"fiveways.dev/fiveways/internal/protocol/etcd"
	"fiveways.dev/fiveways/internal/protocol/httpapi"
	"fiveways.dev/fiveways/internal/protocol/pgwire"
	"fiveways.dev/fiveways/internal/protocol/resp"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// ErrCluster means that the settings do not match the data folder: one is for a node of a cluster,
// the other for a single node.
var ErrCluster = errors.New("cannot start as a node of a cluster")

const (
	// maxGroup and maxMessage limit what a node of a cluster sends to the others at once
	// (replica.MaxGroupBytes), including overhead.
	maxGroup   = 56 << 20
	maxMessage = 48 << 20
	// farewell is the timeout for ending the sessions of a lost leadership.
	farewell = 3 * time.Second
	// lastOrders is how long a leader that stops drains at most: the clients of all other nodes
	// wait for the next leader meanwhile, and not for longer than cluster.LeaderPatience.
	lastOrders = cluster.LeaderPatience / 2
)

// turnAway holds the functions that tell clients why they are not served, by the key of their
// listener.
var turnAway = map[string]func(nc net.Conn, reason string){
	"amqp": amqp.TurnAway, "sql": pgwire.TurnAway, "redis": resp.TurnAway, "etcd": etcd.TurnAway, "http": httpapi.TurnAway, "admin": httpapi.TurnAway,
}

// checkFolder returns an error if the settings do not match the folder.
func checkFolder(cfg config.Config) error {
	is, err := store.LookInto(vfs.OS{}, cfg.Data)
	switch {
	case err != nil:
		return err
	case is.Replica && cfg.ClusterListen == config.Off:
		return fmt.Errorf("%w: the folder is that of a node of a cluster; set cluster_listen", ErrCluster)
	case !is.Replica && cfg.ClusterListen != config.Off && cfg.ClusterJoin == "" && cfg.ClusterJoinFile == "":
		return fmt.Errorf("%w: the folder is not that of a node of a cluster; make it the first node of a new one with `fiveways cluster init`, "+
			"or join one with cluster_join, the token that `fiveways cluster token` prints on another node", ErrCluster)
	}
	return nil
}

// startNode starts a node of a cluster. It returns once this node or another one leads.
func (s *Server) startNode() error {
	s.cfg.MaxMessageSize = min(s.cfg.MaxMessageSize, maxMessage)
	if err := s.definitions.check(); err != nil {
		return err
	}
	if err := s.enter(); err != nil {
		return err
	}
	peers, err := listen("cluster_listen", s.cfg.ClusterListen)
	if err != nil {
		return err
	}
	peers = protocol.Patient("cluster", protocol.SpareFiles(peers, 1), s.log)
	s.proxy = proxy.New(proxy.Options{
		Dial:       func(ctx context.Context) (net.Conn, error) { return s.node.DialLeader(ctx) },
		Leaderless: func() time.Duration { return s.node.Leaderless() },
		Unled:      func() string { return control.Unled(new(s.node.Status())) },
		TurnAway:   func(key string, nc net.Conn, reason string) { turnAway[key](nc, reason) },
		Patience:   cluster.LeaderPatience,
		Log:        s.log,
	})
	ready := make(chan struct{})
	s.node, err = cluster.Start(cluster.NodeOptions{
		FS: vfs.OS{}, Dir: s.cfg.Data, Listener: peers, Address: s.cfg.AdvertisedAddress(), Log: s.log,
		Broker: s.freshEngine,
		Lead: func(b *broker.Broker, lease protocol.Lease) error {
			<-ready
			return s.beginLeadership(b, lease)
		},
		Lose: s.endLeadership, Passed: s.proxy.Receive,
	})
	if err != nil {
		s.proxy.Close()
		return errors.Join(err, peers.Close())
	}
	if number := s.node.Status().Node; s.name == config.Default().NodeName {
		s.name = protocol.NodeName(number)
	}
	s.cluster = control.New(s.node, s.about, s.audit, s.log)
	s.openAdmin()
	close(ready)
	s.openControl()
	for key, all := range s.listeners {
		if key == "metrics" { // each node serves its own metrics
			continue
		}
		for _, l := range all {
			s.doors.Go(func() {
				if err := s.proxy.Serve(key, l); err != nil {
					s.log.Error("listener stopped", "protocol", key, "addr", l.Addr(), "err", err)
				}
			})
		}
	}
	return nil
}

// openControl opens the socket through which operators query and change the cluster.
func (s *Server) openControl() {
	listeners := []net.Listener{s.node.Asked()}
	if l, err := listenPrivately(ControlSocket(s.cfg)); err != nil {
		s.log.Warn("the control socket cannot be opened; `fiveways cluster` cannot reach this node", "err", err)
	} else {
		s.control = l
		listeners = append(listeners, l)
	}
	s.running.Go(func() { s.cluster.Serve(listeners...) })
	s.serveMetrics(s.cluster)
}

// serveMetrics serves the metrics of this node. While it leads, those of the broker come first,
// otherwise those of its disk.
func (s *Server) serveMetrics(c *control.Control) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics/cluster", c.Metrics)
	mux.HandleFunc("GET /livez", httpapi.Alive)
	mux.HandleFunc("GET /readyz", c.Ready)
	mux.HandleFunc("GET /leader", c.Leads)
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		if l := s.leadership(); l != nil {
			l.counters.ServeHTTP(w, r)
			return
		}
		c.FollowerMetrics(w, r)
	})
	mux.HandleFunc("GET /metrics/{of}", func(w http.ResponseWriter, r *http.Request) {
		if l := s.leadership(); l != nil {
			l.counters.ServeHTTP(w, r)
			return
		}
		http.Error(w, "this node does not lead: it has the metrics at /metrics/cluster only", http.StatusServiceUnavailable)
	})
	web := http.Server{Handler: mux, ReadHeaderTimeout: adminPatience}
	for _, l := range s.listeners["metrics"] {
		s.doors.Go(func() {
			web.Serve(l) //nolint:errcheck // the listener was closed
			web.Close()  //nolint:errcheck // as above
		})
	}
}

// leadership returns the current leadership, or nil while another node leads.
func (s *Server) leadership() *leadership {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lead
}

// freshEngine returns the options for the node's next engine (cluster.Options.Broker).
func (s *Server) freshEngine() broker.Options {
	if m := s.machines.Load(); m != nil {
		if err := m.close(); err != nil {
			s.log.Warn("the keys of the previous leadership were not closed cleanly", "err", err)
		}
	}
	m := newMachines(s.cfg, s.log)
	s.machines.Store(m)
	o := s.brokerOptions(m)
	o.MaxGroupBytes = maxGroup
	return o
}

// beginLeadership starts serving clients with a broker.
func (s *Server) beginLeadership(b *broker.Broker, lease protocol.Lease) error {
	l, err := s.newLeadership(b, s.machines.Load(), lease)
	if err != nil {
		return err
	}
	at := map[string]net.Addr{}
	for key, all := range s.listeners {
		at[key] = all[0].Addr()
	}
	s.mu.Lock()
	s.lead = l
	s.mu.Unlock()
	listeners := map[string][]net.Listener{}
	for key, in := range s.proxy.Lead(at) {
		listeners[key] = []net.Listener{in}
	}
	l.serve(listeners)
	s.log.Info("this node leads, and serves the clients of all nodes")
	return nil
}

// endLeadership undoes beginLeadership, if it was called.
func (s *Server) endLeadership() {
	s.proxy.Follow()
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	if err := s.drainLeadership(ctx); err != nil {
		s.log.Warn("some sessions did not end in time after this node lost the lead", "err", err)
	}
}

// drainLeadership ends the current leadership, if any.
func (s *Server) drainLeadership(ctx context.Context) error {
	s.mu.Lock()
	l := s.lead
	s.lead = nil
	s.mu.Unlock()
	if l == nil {
		return nil
	}
	return l.drain(ctx)
}

// stopNode stops a node of a cluster: first its clients, then its leadership. The clients come
// first because a transfer would leave what they have asked for unanswered. New clients of other
// nodes are refused meanwhile as if this node did not lead, so that they wait for the next leader.
func (s *Server) stopNode(ctx context.Context) error {
	closeAll(s.listeners)
	s.doors.Wait()
	s.proxy.Follow()
	draining, cancel := context.WithTimeout(ctx, lastOrders)
	defer cancel()
	err := s.drainLeadership(draining)
	err = errors.Join(err, s.node.Close())
	s.proxy.Close()
	if s.control != nil {
		err = errors.Join(err, s.control.Close(), os.Remove(ControlSocket(s.cfg)))
	}
	return err
}

// Failed returns a channel that is closed when a node of a cluster cannot continue, for a reason
// that is in the log. For a single node it returns nil.
func (s *Server) Failed() <-chan struct{} {
	if s.node == nil {
		return nil
	}
	return s.node.Done()
}

// ControlSocket returns the Unix socket through which a node of a cluster is queried and changed.
func ControlSocket(cfg config.Config) string { return filepath.Join(cfg.Data, "cluster.sock") }
