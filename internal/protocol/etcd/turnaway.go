package etcd

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3election/v3electionpb"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3lock/v3lockpb"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"fiveways.dev/fiveways/internal/protocol"
	"fiveways.dev/fiveways/internal/protocol/grpcwire"
)

const (
	// turnedAway is how long calls of a client are refused before it must reconnect: by then a node
	// may lead.
	turnedAway = time.Second
	// turnedAwayEnd is how long the client may take to disconnect.
	turnedAwayEnd = 3 * time.Second
)

// leaderless refuses all calls with etcd's error for a missing leader.
var leaderless = sync.OnceValue(func() *grpcwire.Server { return refusing(rpctypes.ErrGRPCNoLeader) })

// refusing returns a server that refuses all calls with an error.
func refusing(err error) *grpcwire.Server {
	s := grpcwire.New(grpcwire.Options{
		Unary: func(context.Context, any, *grpc.UnaryServerInfo, grpc.UnaryHandler) (any, error) {
			return nil, err
		},
		Stream: func(any, grpc.ServerStream, *grpc.StreamServerInfo, grpc.StreamHandler) error {
			return err
		},
	})
	(&services{
		kv: &pb.UnimplementedKVServer{}, leases: &pb.UnimplementedLeaseServer{}, watch: &pb.UnimplementedWatchServer{},
		maintenance: &pb.UnimplementedMaintenanceServer{}, cluster: &pb.UnimplementedClusterServer{}, auth: &pb.UnimplementedAuthServer{},
		lock: &v3lockpb.UnimplementedLockServer{}, election: &v3electionpb.UnimplementedElectionServer{}, health: &healthpb.UnimplementedHealthServer{},
	}).register(s)
	return s
}

// TurnAway tells a client why it is not served: that the cluster has no leader as etcd does
// (protocol.NoLeader), and anything else in words.
func TurnAway(nc net.Conn, reason string) {
	server, message, health := leaderless, rpctypes.ErrorDesc(rpctypes.ErrGRPCNoLeader), "RAFT NO LEADER"
	if reason != protocol.NoLeader {
		server = func() *grpcwire.Server { return refusing(status.Error(codes.Unavailable, reason)) }
		message, health = reason, reason
	}
	head, err := firstBytes(nc)
	switch {
	case err != nil:
	case bytes.Equal(head, preface):
		s := server().Session(nc, 0, head)
		defer time.AfterFunc(turnedAway, s.Drain).Stop()
		defer time.AfterFunc(turnedAwayEnd, s.Kill).Stop()
		s.Serve()
	default:
		protocol.TurnAwayHTTP(protocol.Unread(nc, head), func(r *http.Request) (mediaType, text string) {
			if r.URL.Path == "/health" {
				return "application/json", `{"health":"false","reason":"` + health + `"}`
			}
			return "application/json", `{"code":14,"message":"` + message + `"}`
		})
	}
}
