package server

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"syscall"

	"fiveways.dev/fiveways/internal/config"
	"fiveways.dev/fiveways/internal/protocol"
)

// Endpoint is an address at which a protocol is served.
type Endpoint = protocol.Endpoint

// listenAll opens the listeners of all enabled protocols. On an error, which names every address
// that could not be opened, it leaves none open. A busy default address does not prevent the start
// if it is that of the metrics. For a protocol it does, because clients would talk to the program
// that uses the address.
func listenAll(cfg config.Config, log *slog.Logger) (map[string][]net.Listener, error) {
	listeners := map[string][]net.Listener{}
	var errs []error
	for _, key := range config.ListenKeys() {
		for _, addr := range cfg.Listen(key) {
			l, err := listen(key, addr)
			switch {
			case err == nil:
				listeners[key] = append(listeners[key], protocol.SpareFiles(l, spared(key)))
			case key == "metrics" && cfg.MetricsOptional && errors.Is(err, ErrAddrInUse):
				log.Warn("metrics are not served: another program has the default address; choose one with --metrics HOST:PORT, or --metrics off", "addr", addr)
			default:
				errs = append(errs, err)
			}
		}
	}
	if len(errs) > 0 {
		closeAll(listeners)
		return nil, errors.Join(errs...)
	}
	return listeners, nil
}

// spared returns which part of the spare files a listener leaves alone: operators can still look at
// a node when the clients have taken all files that they may.
func spared(key string) int {
	if key == "http" || key == "metrics" {
		return 1
	}
	return 2
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

// Endpoints returns all addresses that are served, in the order of config.ListenKeys.
func (s *Server) Endpoints() []Endpoint { return s.ends }
