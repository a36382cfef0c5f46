package server

import (
	"net"

	"fiveways/internal/config"
	"fiveways/internal/protocol"
	"fiveways/internal/protocol/httpapi"
)

// describe says what the HTTP API tells of this node.
func (s *Server) describe(l *leadership) httpapi.Node {
	n := httpapi.Node{
		Name: s.cfg.NodeName, Product: s.cfg.AMQPProduct, Version: s.version, RabbitMQ: s.cfg.RabbitMQVersion,
		Monitor: l.monitor, Clients: l.shared.Clients, Connections: l.shared.Connections,
		Endpoints: func() []protocol.Endpoint { return s.ends }, Certificate: s.tls.Certificate,
		MemoryLimit: func() int64 { return HeapLimit(s.cfg, s.Kept()) },
	}
	if l.keys != nil {
		n.KeyBytes = l.keys.keys.IndexBytes
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
