package server

import (
	"net"
	"os"
	"runtime"
	"runtime/debug"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/internal/monitor"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/httpapi"
	"fiveways.dev/fiveways/internal/replica/level"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// describe returns what the HTTP API reports about this node.
func (s *Server) describe(l *leadership) httpapi.Node {
	n := httpapi.Node{
		Name: s.name, Membership: l.shared.Cluster, ClusterName: func() string { return clusterName(l.broker, s.cfg) }, Product: s.cfg.AMQPProduct, Version: s.version, RabbitMQ: s.cfg.RabbitMQVersion,
		Monitor: l.monitor, Clients: l.shared.Clients, Connections: l.shared.Connections,
		Endpoints: func() []protocol.Endpoint { return s.ends }, Certificate: s.tls.Certificate,
		MemoryLimit: s.memoryLimit,
	}
	if l.keys != nil {
		n.KeyBytes = l.keys.keys.IndexBytes
	}
	return n
}

// memoryLimit returns the soft memory limit of the process in bytes: the operator's GOMEMLIMIT, or
// else the limit that the broker sets.
func (s *Server) memoryLimit() int64 {
	if os.Getenv("GOMEMLIMIT") != "" {
		return debug.SetMemoryLimit(-1)
	}
	return HeapLimit(s.cfg, s.Kept())
}

// clusterName returns the name that operators have given to the broker.
func clusterName(b *broker.Broker, cfg config.Config) string {
	return httpapi.ClusterName(b, unnamed(cfg))
}

// unnamed returns the default name of the cluster. It is the same on all nodes of a cluster,
// whatever their own names are.
func unnamed(cfg config.Config) string {
	if cfg.ClusterListen != config.Off {
		return config.Default().NodeName
	}
	return cfg.NodeName
}

// about returns what this node reports to the others of its cluster.
func (s *Server) about() protocol.About {
	a := protocol.About{
		Name: s.name, Version: s.version, Levels: level.Supported, Started: s.started, PID: os.Getpid(), Processors: runtime.NumCPU(), Process: monitor.ReadProcess(),
		MemoryLimit: s.memoryLimit(), DiskFree: -1, DiskFreeLimit: s.cfg.DiskFreeLimit,
	}
	if free, err := (vfs.OS{}).Free(s.cfg.Data); err == nil {
		a.DiskFree = int64(free)
	}
	for _, e := range s.ends {
		e.Address = reachable(e.Address, s.cfg.AdvertisedAddress())
		a.Endpoints = append(a.Endpoints, e)
	}
	return a
}

// reachable returns an address at which other machines can reach a listener. If it listens on all
// addresses of its machine, that is the advertised one.
func reachable(address, advertised string) string {
	host, port, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || ip != nil && !ip.IsUnspecified() {
		return address
	}
	if host, _, err = net.SplitHostPort(advertised); err != nil {
		return address
	}
	return net.JoinHostPort(host, port)
}

// endpoints returns the addresses of all listeners, in the order of config.ListenKeys.
func endpoints(listeners map[string][]net.Listener, secure bool) (all []Endpoint) {
	for _, key := range config.ListenKeys() {
		for _, l := range listeners[key] {
			all = append(all, Endpoint{Protocol: key, Address: l.Addr().String(), TLS: secure})
		}
	}
	return all
}
