package etcd

import (
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// cuttable forwards connections to a server until they are cut.
type cuttable struct {
	net.Listener
	to string

	mu    sync.Mutex
	conns []net.Conn
}

func newCuttable(t *testing.T, to string) *cuttable {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cuttable{Listener: ln, to: to}
	t.Cleanup(func() { ln.Close(); c.cut() })
	go func() {
		for {
			nc, err := ln.Accept()
			if err != nil {
				return
			}
			c.pass(nc)
		}
	}()
	return c
}

func (c *cuttable) pass(nc net.Conn) {
	far, err := net.Dial("tcp", c.to)
	if err != nil {
		nc.Close()
		return
	}
	c.mu.Lock()
	c.conns = append(c.conns, nc, far)
	c.mu.Unlock()
	go func() { io.Copy(far, nc); far.Close() }()
	go func() { io.Copy(nc, far); nc.Close() }()
}

// cut breaks all connections.
func (c *cuttable) cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, nc := range c.conns {
		nc.Close()
	}
	c.conns = nil
}

// TestWatchResumes checks that a client whose connection breaks resumes where it was, without gaps
// or repetitions.
func TestWatchResumes(t *testing.T) {
	const n, every = 400, 50
	node := newNode(t, Options{})
	line := newCuttable(t, node.addr)
	watcher, writer := dial(t, line.Addr().String()), dial(t, node.addr)
	events := watcher.Watch(t.Context(), "a", clientv3.WithPrefix(), clientv3.WithCreatedNotify())
	<-events
	failed := make(chan error, 1)
	go func() {
		for i := range n {
			if _, err := writer.Put(t.Context(), fmt.Sprintf("a%d", i%7), fmt.Sprint(i)); err != nil {
				failed <- err
				return
			}
		}
	}()
	for next := 0; next < n; {
		select {
		case err := <-failed:
			t.Fatal(err)
		case r := <-events:
			if r.Err() != nil {
				t.Fatal(r.Err())
			}
			for _, e := range r.Events {
				if string(e.Kv.Value) != fmt.Sprint(next) {
					t.Fatalf("event %s, want %d", e.Kv.Value, next)
				}
				if next++; next%every == 0 {
					line.cut()
				}
			}
		}
	}
}

// TestWatchOfCompactedHistoryTellsClient checks how etcd's client library reports a watch of
// compacted history.
func TestWatchOfCompactedHistoryTellsClient(t *testing.T) {
	node := newNode(t, Options{})
	c := dial(t, node.addr)
	for range 5 {
		if _, err := c.Put(t.Context(), "a", "v"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Compact(t.Context(), 4); err != nil {
		t.Fatal(err)
	}
	r := <-c.Watch(t.Context(), "a", clientv3.WithRev(2))
	if r.CompactRevision != 4 || r.Err() != rpctypes.ErrCompacted || r.Header.Revision != 0 {
		t.Errorf("%+v: %v", r, r.Err())
	}
}

// TestWatchFragmentsThroughClient checks that a batch above the request limit is sent in fragments,
// which the client library reassembles.
func TestWatchFragmentsThroughClient(t *testing.T) {
	const n, size = 10, 1 << 20
	node := newNode(t, Options{})
	c := dial(t, node.addr)
	value := string(make([]byte, size))
	for i := range n {
		if _, err := c.Put(t.Context(), fmt.Sprintf("a%d", i), value); err != nil {
			t.Fatal(err)
		}
	}
	seen := 0
	for r := range c.Watch(t.Context(), "a", clientv3.WithPrefix(), clientv3.WithRev(1), clientv3.WithFragment()) {
		if r.Err() != nil {
			t.Fatal(r.Err())
		}
		if seen += len(r.Events); seen == n {
			break
		}
	}
	raw, err := pb.NewWatchClient(c.ActiveConnection()).Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wish := &pb.WatchCreateRequest{Key: []byte("a"), RangeEnd: []byte("b"), StartRevision: 1, Fragment: true}
	if err := raw.Send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: wish}}); err != nil {
		t.Fatal(err)
	}
	fragments := 0
	for seen = 0; seen < n; {
		r, err := raw.Recv()
		if err != nil {
			t.Fatal(err)
		}
		if seen += len(r.Events); r.Fragment {
			fragments++
		}
	}
	if fragments < 4 {
		t.Errorf("%d fragments", fragments)
	}
}
