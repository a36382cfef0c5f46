package etcd

import (
	"context"
	"log/slog"
	"net"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"fiveways/internal/broker"
	"fiveways/internal/keyspace"
	"fiveways/internal/storage/vfs"
)

// node is a server on a broker in memory.
type node struct {
	*Server
	addr string
	fs   *vfs.Mem
}

// newNode starts a server that ends with the test.
func newNode(t testing.TB, o Options) *node {
	t.Helper()
	n := &node{fs: vfs.NewMem()}
	ks := keyspace.New(keyspace.Options{Name: "test", Folder: t.TempDir(), MaxRequestBytes: o.MaxRequestBytes})
	log := slog.New(slog.DiscardHandler)
	b, err := broker.Open(n.fs, "data", broker.Options{Logger: log, DiskFreeLimit: -1, Annex: ks})
	if err != nil {
		t.Fatal(err)
	}
	if err := ks.Start(b); err != nil {
		t.Fatal(err)
	}
	if o.Log == nil {
		o.Log = log
	}
	n.Server = New(b, ks, o)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n.addr = ln.Addr().String()
	served := make(chan error, 1)
	go func() { served <- n.Serve(ln) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		drained := n.Drain(ctx)
		ks.Stop()
		for _, err := range []error{drained, <-served, b.Close(), ks.Close()} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	return n
}

// dial is a client of a server, closed with the test.
func dial(t testing.TB, addr string) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{addr}, DialTimeout: 5 * time.Second, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}
