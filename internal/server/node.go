package server

import (
	"net"

	"fiveways/internal/config"
	"fiveways/internal/monitor"
	"fiveways/internal/protocol"
	"fiveways/internal/protocol/httpapi"
)

// describe says what the HTTP API tells of this node.
func (s *Server) describe(cfg config.Config, c common, listeners map[string][]net.Listener) httpapi.Node {
	served := endpoints(listeners, s.tls != nil)
	s.monitor = monitor.New(s.broker, monitor.Options{Every: cfg.StatsInterval, Edge: c.Clients.Observe, Log: c.Log})
	n := httpapi.Node{
		Name: cfg.NodeName, Product: cfg.AMQPProduct, Version: c.version, RabbitMQ: cfg.RabbitMQVersion, Monitor: s.monitor, Clients: c.Clients, Connections: c.Connections,
		Endpoints: func() []protocol.Endpoint { return served }, Certificate: s.tls.Certificate,
		MemoryLimit: func() int64 { return HeapLimit(cfg, s.Kept()) },
	}
	if s.etcd != nil {
		n.KeyBytes = s.etcd.keys.IndexBytes
	}
	return n
}

// endpoints are the addresses of all listeners, in the order of config.ListenKeys.
func endpoints(listeners map[string][]net.Listener, secure bool) (all []Endpoint) {
	for _, key := range config.ListenKeys() {
		for _, l := range listeners[key] {
			all = append(all, Endpoint{Protocol: key, Address: l.Addr().String(), TLS: secure})
		}
	}
	return all
}
