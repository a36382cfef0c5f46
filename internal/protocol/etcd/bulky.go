package etcd

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3election/v3electionpb"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3lock/v3lockpb"
)

// bulky reports whether the answer to a request may be large, so that it needs an answer slot
// (grpcwire.AwaitAnswerSlot). Requests that wait for other clients are not bulky, nor are requests
// that many clients make at once to share an fsync: their answers are small.
func bulky(req any) bool {
	switch r := req.(type) {
	case *pb.RangeRequest:
		return !r.CountOnly
	case *pb.PutRequest:
		return r.PrevKv
	case *pb.DeleteRangeRequest:
		return r.PrevKv
	case *pb.TxnRequest:
		return bulkyTxn(r)
	case *pb.CompactionRequest, *pb.LeaseGrantRequest, *pb.LeaseRevokeRequest, *pb.AuthenticateRequest,
		*v3lockpb.LockRequest, *v3lockpb.UnlockRequest,
		*v3electionpb.CampaignRequest, *v3electionpb.ProclaimRequest, *v3electionpb.ResignRequest:
		return false
	}
	return true
}

// bulkyTxn reports whether an operation of a transaction is bulky.
func bulkyTxn(r *pb.TxnRequest) bool {
	for _, branch := range [...][]*pb.RequestOp{r.Success, r.Failure} {
		for _, op := range branch {
			switch {
			case op.GetRequestRange() != nil && bulky(op.GetRequestRange()),
				op.GetRequestPut() != nil && bulky(op.GetRequestPut()),
				op.GetRequestDeleteRange() != nil && bulky(op.GetRequestDeleteRange()),
				op.GetRequestTxn() != nil && bulkyTxn(op.GetRequestTxn()):
				return true
			}
		}
	}
	return false
}
