package etcd

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/keyspace"
	"fiveways.dev/fiveways/internal/protocol/protocoltest"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/statemachine"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// node is a server on a broker in memory.
type node struct {
	*Server
	addr string
	fs   *vfs.Mem
	disk *heldDisk // the disk of fs
}

// newNode starts a server that stops with the test.
func newNode(t testing.TB, o Options) *node {
	return startNode(t, o, keyspace.Options{}, broker.Options{DiskFreeLimit: -1})
}

// newNodeWithQuota starts a server with a quota in bytes for its keys.
func newNodeWithQuota(t testing.TB, bytes int64) *node {
	return startNode(t, Options{}, keyspace.Options{QuotaBytes: bytes}, broker.Options{DiskFreeLimit: -1})
}

func startNode(t testing.TB, o Options, ko keyspace.Options, bo broker.Options) *node {
	t.Helper()
	n := &node{fs: vfs.NewMem()}
	n.disk = newHeldDisk(n.fs)
	ko.Name, ko.Folder, ko.MaxRequestBytes = "test", t.TempDir(), o.MaxRequestBytes
	ks := keyspace.New(ko)
	log := slog.New(slog.DiscardHandler)
	sems := semaphores.New(semaphores.Options{Logger: log})
	bo.Logger, bo.StateMachines = log, protocoltest.Machines(sems, ks)
	b := enginetest.Open(t, n.disk, func(to *broker.Options) { *to = bo })
	if err := ks.Start(b.StateMachine(statemachine.Keys)); err != nil {
		t.Fatal(err)
	}
	if err := sems.Start(b); err != nil {
		t.Fatal(err)
	}
	o.Semaphores = sems
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
		sems.Stop()
		enginetest.Close(t, b)
		for _, err := range []error{drained, <-served, ks.Close()} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	return n
}

// dial returns a client of a server. It is closed with the test.
func dial(t testing.TB, addr string) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{addr}, DialTimeout: 5 * time.Second, Logger: zap.NewNop()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// fetch sends a GET over HTTP/1 and returns the status and the body without the last newline.
func fetch(t testing.TB, addr, path string) (int, string) {
	t.Helper()
	r, err := http.Get("http://" + addr + path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, strings.TrimSuffix(string(b), "\n")
}
