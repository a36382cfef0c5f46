package etcd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"golang.org/x/net/http2"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/protocol"
)

// A drain ends streams with an error after which clients reconnect, and lets calls finish.
func TestDrainEndsStreams(t *testing.T) {
	n := newNode(t, Options{})
	conn := dial(t, n.addr).ActiveConnection()
	watch, err := pb.NewWatchClient(conn).Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	create := &pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: &pb.WatchCreateRequest{Key: []byte("a")}}}
	if err := watch.Send(create); err != nil {
		t.Fatal(err)
	}
	if _, err := watch.Recv(); err != nil {
		t.Fatal(err)
	}
	alive, err := pb.NewLeaseClient(conn).LeaseKeepAlive(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := alive.Send(&pb.LeaseKeepAliveRequest{ID: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := alive.Recv(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := n.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	for name, recv := range map[string]func() error{
		"watch":      func() error { _, err := watch.Recv(); return err },
		"keep alive": func() error { _, err := alive.Recv(); return err },
	} {
		if err := recv(); status.Code(err) != codes.Unavailable {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n.Connections() != 0 || n.ConnectionsOpened() == 0 {
		t.Errorf("%d connections of %d", n.Connections(), n.ConnectionsOpened())
	}
}

// An unused server stops at once, and may be stopped twice.
func TestStopAtOnce(t *testing.T) {
	for range 20 {
		n := newNode(t, Options{})
		for range 2 {
			if err := n.Drain(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestConnectionLimit(t *testing.T) {
	n := newNode(t, Options{Shared: protocol.Shared{Connections: protocol.NewLimit(1)}})
	for range 3 { // a client without a login takes no connection slot
		nc, err := net.Dial("tcp", n.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
	}
	first := dial(t, n.addr)
	if _, err := first.Get(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := dial(t, n.addr).Get(t.Context(), "a"); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("beyond the limit: %v", err)
	}
	first.Close()
	for {
		if _, err := dial(t, n.addr).Get(t.Context(), "a"); err == nil {
			return
		} else if status.Code(err) != codes.ResourceExhausted {
			t.Fatal(err)
		}
	}
}

func TestHealthService(t *testing.T) {
	conn := dial(t, newNode(t, Options{}).addr).ActiveConnection()
	r, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil || r.Status != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("%v, %v", r, err)
	}
}

// A client version that is invalid UTF-8 is refused, as in etcd. A required leader always exists.
func TestMetadata(t *testing.T) {
	kv := pb.NewKVClient(dial(t, newNode(t, Options{}).addr).ActiveConnection())
	get := func(key, value string) error {
		_, err := kv.Range(metadata.AppendToOutgoingContext(t.Context(), key, value), &pb.RangeRequest{Key: []byte("a")})
		return err
	}
	if err := get(rpctypes.MetadataRequireLeaderKey, rpctypes.MetadataHasLeader); err != nil {
		t.Error(err)
	}
	if err := get(rpctypes.MetadataClientAPIVersionKey, "3.5"); err != nil {
		t.Error(err)
	}
}

func TestReplies(t *testing.T) {
	own := status.Error(codes.Aborted, "own")
	for _, tc := range []struct{ err, want error }{
		{nil, nil},
		{fmt.Errorf("x: %w", failure.ErrAccessRefused), rpctypes.ErrGRPCPermissionDenied},
		{failure.ErrLogFailed, status.Error(codes.Unavailable, "etcdserver: the log takes no more: see the log of the server")},
		{failure.ErrClosed, rpctypes.ErrGRPCStopped},
		{own, own},
		{context.Canceled, status.FromContextError(context.Canceled).Err()},
		{errors.New("odd"), status.Error(codes.Unknown, "odd")},
	} {
		if got := reply(tc.err); status.Code(got) != status.Code(tc.want) || status.Convert(got).Message() != status.Convert(tc.want).Message() {
			t.Errorf("%v: %v, want %v", tc.err, got, tc.want)
		}
	}
}

// A client that pings too often gets ENHANCE_YOUR_CALM and is disconnected, as by etcd.
func TestTooManyPings(t *testing.T) {
	n := newNode(t, Options{})
	nc, err := net.Dial("tcp", n.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(10 * time.Second)) //nolint:errcheck // the read reports the error
	if _, err := nc.Write(preface); err != nil {
		t.Fatal(err)
	}
	f := http2.NewFramer(nc, nc)
	if err := f.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		f.WritePing(false, [8]byte{1}) //nolint:errcheck // the connection may be closed already
	}
	for {
		frame, err := f.ReadFrame()
		if err != nil {
			t.Fatalf("no GOAWAY before %v", err)
		}
		if g, ok := frame.(*http2.GoAwayFrame); ok {
			if g.ErrCode != http2.ErrCodeEnhanceYourCalm || string(g.DebugData()) != "too_many_pings" {
				t.Errorf("%v %q", g.ErrCode, g.DebugData())
			}
			return
		}
	}
}
