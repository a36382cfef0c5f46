package etcd

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"fiveways.dev/fiveways/internal/broker"
)

// room refuses requests that add keys while the disk is low on space, as etcd does beyond its
// quota. Deletions and compactions are allowed, since they free space. A memory alarm of the engine
// does not matter here: it concerns messages.
func (s *Server) room() error {
	if a := s.broker.Alarm(); a != nil && a.Reason == broker.LowOnDisk {
		return rpctypes.ErrGRPCNoSpace
	}
	return nil
}

// puts reports whether a put occurs anywhere in a transaction.
func puts(r *pb.TxnRequest) bool {
	for _, branch := range [][]*pb.RequestOp{r.Success, r.Failure} {
		for _, op := range branch {
			if inner := op.GetRequestTxn(); op.GetRequestPut() != nil || inner != nil && puts(inner) {
				return true
			}
		}
	}
	return false
}
