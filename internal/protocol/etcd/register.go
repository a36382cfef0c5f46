package etcd

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3election/v3electionpb"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3lock/v3lockpb"
	"google.golang.org/grpc"
	grpchealth "google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// services are the implementations of the API's services.
type services struct {
	kv          pb.KVServer
	leases      pb.LeaseServer
	watch       pb.WatchServer
	maintenance pb.MaintenanceServer
	cluster     pb.ClusterServer
	auth        pb.AuthServer
	lock        v3lockpb.LockServer
	election    v3electionpb.ElectionServer
	health      healthpb.HealthServer
}

// newServices returns the services of a server.
func newServices(s *Server) *services {
	x := &services{
		kv: &kvService{srv: s}, leases: &leaseService{srv: s}, watch: newWatchService(s.watchOptions()),
		maintenance: &maintenanceService{srv: s}, cluster: &clusterService{srv: s}, auth: &authService{srv: s},
	}
	in := newInside(s, x)
	x.lock, x.election = &lockService{inside: in}, &electionService{inside: in}
	state := grpchealth.NewServer()
	state.SetServingStatus("", healthpb.HealthCheckResponse_SERVING)
	x.health = state
	return x
}

// register registers the services. It may be called several times.
func (x *services) register(r grpc.ServiceRegistrar) {
	pb.RegisterKVServer(r, x.kv)
	pb.RegisterLeaseServer(r, x.leases)
	pb.RegisterWatchServer(r, x.watch)
	pb.RegisterMaintenanceServer(r, x.maintenance)
	pb.RegisterClusterServer(r, x.cluster)
	pb.RegisterAuthServer(r, x.auth)
	v3lockpb.RegisterLockServer(r, x.lock)
	v3electionpb.RegisterElectionServer(r, x.election)
	healthpb.RegisterHealthServer(r, x.health)
}
