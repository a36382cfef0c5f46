package etcd

import (
	"bytes"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// The prefixes of keys that belong to queues.
var queuePrefixes = [][]byte{[]byte("/q/"), []byte("/queue/")}

// isQueueKey tells whether a key belongs to the queues. A range does when it begins there: one that only spans them is a range of ordinary
// keys, in which queues do not show.
func isQueueKey(key []byte) bool {
	for _, prefix := range queuePrefixes {
		if bytes.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// touchesQueues tells whether a key of queues stands anywhere in a transaction.
func touchesQueues(r *pb.TxnRequest) bool {
	for _, c := range r.Compare {
		if isQueueKey(c.Key) {
			return true
		}
	}
	for _, branch := range [][]*pb.RequestOp{r.Success, r.Failure} {
		for _, op := range branch {
			if opTouchesQueues(op) {
				return true
			}
		}
	}
	return false
}

func opTouchesQueues(op *pb.RequestOp) bool {
	switch o := op.Request.(type) {
	case *pb.RequestOp_RequestRange:
		return isQueueKey(o.RequestRange.GetKey())
	case *pb.RequestOp_RequestPut:
		return isQueueKey(o.RequestPut.GetKey())
	case *pb.RequestOp_RequestDeleteRange:
		return isQueueKey(o.RequestDeleteRange.GetKey())
	case *pb.RequestOp_RequestTxn:
		return o.RequestTxn != nil && touchesQueues(o.RequestTxn)
	}
	return false
}
