package etcd

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3election"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3election/v3electionpb"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3lock"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3lock/v3lockpb"
	"google.golang.org/grpc"
	grpchealth "google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// register makes the services and registers them.
func (s *Server) register(r grpc.ServiceRegistrar) {
	kv, leases, watch := &kvService{srv: s}, &leaseService{srv: s}, newWatchService(s.watchOptions())
	pb.RegisterKVServer(r, kv)
	pb.RegisterLeaseServer(r, leases)
	pb.RegisterWatchServer(r, watch)
	pb.RegisterMaintenanceServer(r, &maintenanceService{srv: s})
	pb.RegisterClusterServer(r, &clusterService{srv: s})
	pb.RegisterAuthServer(r, newAuthService(s))

	s.inner = newInnerClient(kv, leases, watch)
	v3lockpb.RegisterLockServer(r, v3lock.NewLockServer(s.inner.Client))
	v3electionpb.RegisterElectionServer(r, v3election.NewElectionServer(s.inner.Client))

	state := grpchealth.NewServer()
	state.SetServingStatus("", healthpb.HealthCheckResponse_SERVING)
	healthpb.RegisterHealthServer(r, state)
}

func (s *Server) watchOptions() watchOptions {
	return watchOptions{
		keys: s.keys.KV(),
		header: func(revision int64) *pb.ResponseHeader {
			h := &pb.ResponseHeader{Revision: revision}
			s.keys.Fill(h)
			return h
		},
		permit: func(ctx context.Context, key, end []byte) error {
			who, err := s.identify(ctx)
			if err != nil {
				return err
			}
			return reply(s.mayRange(who, key, end))
		},
		maxBytes: s.o.MaxRequestBytes, over: s.draining, log: s.log,
	}
}
