package server

import (
	"errors"
	"fmt"
	"net"
	"syscall"

	"fiveways/internal/config"
	"fiveways/internal/protocol"
)

// Endpoint is an address at which a protocol is served.
type Endpoint = protocol.Endpoint

// listenAll opens the listeners of these protocols that are not off; with an error none is left open.
func listenAll(cfg config.Config, keys ...string) (map[string][]net.Listener, error) {
	listeners := map[string][]net.Listener{}
	for _, key := range keys {
		for _, addr := range cfg.Listen(key) {
			l, err := listen(key, addr)
			if err != nil {
				closeAll(listeners)
				return nil, err
			}
			listeners[key] = append(listeners[key], l)
		}
	}
	return listeners, nil
}

func closeAll(listeners map[string][]net.Listener) {
	for _, all := range listeners {
		for _, l := range all {
			l.Close()
		}
	}
}

func listen(key, addr string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s: %s: %w", key, addr, ErrAddrInUse)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	return l, nil
}

// serve has fn serve a protocol's listeners, over TLS too where there is a certificate.
func (s *Server) serve(key string, listeners []net.Listener, fn func(net.Listener) error) {
	for _, l := range listeners {
		addr := l.Addr().String()
		if s.addrs[key] == "" {
			s.addrs[key] = addr
		}
		l = s.tls.Listen(l, doors[key])
		s.served.Go(func() {
			if err := fn(l); err != nil {
				s.log.Error("listener stopped", "protocol", key, "addr", addr, "err", err)
			}
		})
	}
}

// Endpoints are all addresses that are served, in the order of config.ListenKeys.
func (s *Server) Endpoints() []Endpoint { return s.ends }
