package server

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	amqp "github.com/rabbitmq/amqp091-go"
	clientv3 "go.etcd.io/etcd/client/v3"

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
		TurnAway:   func(key string, nc net.Conn, reason string) { turnAway[key](nc, reason) },
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

// TestNotServed: clients of a protocol that the leader does not serve are told so, in the terms of
// their protocols.
func TestNotServed(t *testing.T) {
	for key, ask := range map[string]func(nc net.Conn, addr string) string{
		"amqp": func(_ net.Conn, addr string) string {
			_, err := amqp.Dial("amqp://guest:guest@" + addr)
			return fmt.Sprint(err)
		},
		"sql": func(_ net.Conn, addr string) string {
			_, err := pgconn.Connect(t.Context(), "postgres://guest@"+addr+"/fiveways?sslmode=disable")
			var said *pgconn.PgError
			if errors.As(err, &said) {
				return said.Detail
			}
			return fmt.Sprint(err)
		},
		"redis": func(nc net.Conn, _ string) string {
			fmt.Fprint(nc, "PING\r\n")
			answer, _ := bufio.NewReader(nc).ReadString('\n')
			return answer
		},
		"etcd": func(_ net.Conn, addr string) string {
			c, err := clientv3.New(clientv3.Config{Endpoints: []string{addr}})
			must(t, err)
			defer c.Close()
			_, err = c.Put(t.Context(), "key", "value")
			return fmt.Sprint(err)
		},
		"http": func(nc net.Conn, _ string) string {
			fmt.Fprint(nc, "GET / HTTP/1.1\r\nHost: x\r\nAccept: text/html\r\n\r\n")
			answer, _ := io.ReadAll(nc)
			return string(answer)
		},
	} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		t.Cleanup(func() { ln.Close() })
		go protocol.Accept(key, ln, slog.New(slog.DiscardHandler), func(nc net.Conn) { //nolint:errcheck // clients report errors
			go func() {
				defer nc.Close()
				turnAway[key](nc, protocol.NotServed(key))
			}()
		})
		nc, err := net.Dial("tcp", ln.Addr().String())
		must(t, err)
		t.Cleanup(func() { nc.Close() })
		if heard := ask(nc, ln.Addr().String()); !strings.Contains(heard, "does not serve this protocol: set `"+key+"` on all nodes") {
			t.Errorf("%s: a client hears %s", key, heard)
		}
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
