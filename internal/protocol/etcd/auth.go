package etcd

import pb "go.etcd.io/etcd/api/v3/etcdserverpb"

// authService is the service Auth.
type authService struct {
	pb.UnimplementedAuthServer
	srv *Server
}

func newAuthService(s *Server) pb.AuthServer { return &authService{srv: s} }
