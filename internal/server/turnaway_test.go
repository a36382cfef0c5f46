package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/authority"
	"fiveways.dev/fiveways/internal/cluster/proxy"
	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/test/clustertest"
)

// TestTurnAway: while no node leads, clients are told so in the terms of their protocols, with and
// without TLS.
func TestTurnAway(t *testing.T) {
	p := proxy.New(proxy.Options{
		Log:        slog.New(slog.DiscardHandler),
		Dial:       func(context.Context) (net.Conn, error) { return nil, errors.New("no node leads") },
		Leaderless: func() time.Duration { return time.Hour },
		TurnAway:   func(key string, nc net.Conn) { turnAway[key](nc) },
	})
	t.Cleanup(p.Close)
	certificate, trust := serverCertificate(t)
	for name, tc := range map[string]struct {
		server *protocol.TLS
		client *tls.Config
	}{"plain": {}, "TLS": {certificate, trust}} {
		at := map[string]string{}
		for key := range turnAway {
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			must(t, err)
			at[key] = ln.Addr().String()
			ln = tc.server.Listen(ln, tlsModes[key])
			t.Cleanup(func() { ln.Close() })
			go p.Serve(key, ln) //nolint:errcheck // clients report errors
		}
		t.Run(name, func(t *testing.T) { clustertest.TurnedAway(t, at, tc.client) })
	}
}

// serverCertificate returns a certificate for 127.0.0.1, and the configuration of clients that
// trust it.
func serverCertificate(t *testing.T) (*protocol.TLS, *tls.Config) {
	t.Helper()
	ca, err := authority.New("test", time.Now(), time.Now().Add(time.Hour))
	must(t, err)
	pair, err := ca.Server("127.0.0.1")
	must(t, err)
	o := protocol.TLSOptions{Cert: filepath.Join(t.TempDir(), "cert.pem"), Key: filepath.Join(t.TempDir(), "key.pem"), Plain: protocol.IsLoopback, Log: slog.New(slog.DiscardHandler)}
	must(t, errors.Join(os.WriteFile(o.Cert, pair.Cert, 0o600), os.WriteFile(o.Key, pair.Key, 0o600)))
	server, err := protocol.OpenTLS(o)
	must(t, err)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca.Cert())
	return server, &tls.Config{RootCAs: roots, ServerName: "127.0.0.1"}
}
