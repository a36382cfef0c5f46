package etcd

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"fiveways.dev/fiveways/internal/broker"
)

// room refuses what adds keys while the disk is short, as etcd does beyond its quota. Deletions and
// compactions go on: they are the way out. The memory that an alarm of the engine may be about is
// that of messages.
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
