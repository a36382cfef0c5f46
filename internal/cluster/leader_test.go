package cluster

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/authority"
)

// TestClosedStream checks that the leader sees on the socket itself that a client of another node
// has closed its sending side: it cancels the query of an SQL client that has left.
func TestClosedStream(t *testing.T) {
	ca, err := authority.New("test", time.Now(), time.Now().Add(time.Hour))
	must(t, err)
	pair, err := ca.Client("node")
	must(t, err)
	key, err := tls.X509KeyPair(pair.Cert, pair.Key)
	must(t, err)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer ln.Close()
	ended := make(chan error, 1)
	go func() {
		nc, err := ln.Accept()
		if err == nil {
			defer nc.Close()
			err = tls.Server(nc, &tls.Config{Certificates: []tls.Certificate{key}}).Handshake()
		}
		if err == nil {
			_, err = io.Copy(io.Discard, nc)
		}
		ended <- err
	}()
	nc, err := tls.Dial("tcp", ln.Addr().String(), &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // the test knows the server
	must(t, err)
	defer nc.Close()
	over, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := &leaderStream{nc, context.AfterFunc(over, func() { nc.Close() })}
	must(t, s.CloseWrite())
	nc.SetReadDeadline(time.Now().Add(10 * time.Second)) //nolint:errcheck // a read reports the error
	if _, err := io.ReadAll(nc); err != nil {
		t.Errorf("the leader does not end: %v", err)
		nc.Close()
	}
	must(t, <-ended)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
