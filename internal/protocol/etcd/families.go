package etcd

import (
	"context"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
)

// family is a kind of virtual keys: of queues, or of semaphores. The methods return errors that are
// ready for clients.
type family interface {
	virtual.Family
	Put(ctx context.Context, who virtual.Caller, r *pb.PutRequest) (*pb.PutResponse, error)
	DeleteRange(who virtual.Caller, r *pb.DeleteRangeRequest) (*pb.DeleteRangeResponse, error)
	// Watch opens a watch as described at virtualWatches.Watch.
	Watch(who virtual.Caller, r *pb.WatchCreateRequest, ready func()) (w virtual.Watcher, since int64, err error)
	// MayEndLease checks that a caller may end a lease, as far as virtual keys are attached to it.
	MayEndLease(who virtual.Caller, lease int64) error
	// LeaseKeys returns the virtual keys of a lease that a caller may see.
	LeaseKeys(who virtual.Caller, lease int64) [][]byte
	// Close ends background work, at the latest when ctx ends. No method is called afterwards.
	Close(ctx context.Context)
}

// of returns the family that a key belongs to, or nil for an ordinary key. A range belongs to the
// family of its first key: a range of ordinary keys may span virtual keys, which do not show in it.
func (n *virtualKeys) of(key []byte) family {
	for _, f := range n.families {
		if f.Holds(key) {
			return f
		}
	}
	return nil
}

// holds reports whether a key is virtual.
func (n *virtualKeys) holds(key []byte) bool { return n.of(key) != nil }

// touched reports whether a virtual key occurs anywhere in a transaction.
func (n *virtualKeys) touched(r *pb.TxnRequest) bool {
	return slices.ContainsFunc(r.Compare, func(c *pb.Compare) bool { return n.holds(c.Key) }) ||
		slices.ContainsFunc(r.Success, n.touchedBy) || slices.ContainsFunc(r.Failure, n.touchedBy)
}

func (n *virtualKeys) touchedBy(op *pb.RequestOp) bool {
	switch o := op.Request.(type) {
	case *pb.RequestOp_RequestRange:
		return n.holds(o.RequestRange.GetKey())
	case *pb.RequestOp_RequestPut:
		return n.holds(o.RequestPut.GetKey())
	case *pb.RequestOp_RequestDeleteRange:
		return n.holds(o.RequestDeleteRange.GetKey())
	case *pb.RequestOp_RequestTxn:
		return o.RequestTxn != nil && n.touched(o.RequestTxn)
	}
	return false
}

// ordinaryPart returns the transaction without the operations on virtual keys.
func (n *virtualKeys) ordinaryPart(r *pb.TxnRequest) *pb.TxnRequest {
	if !n.touched(r) {
		return r
	}
	part := &pb.TxnRequest{Success: n.ordinaryOps(r.Success), Failure: n.ordinaryOps(r.Failure)}
	for _, c := range r.Compare {
		if !n.holds(c.Key) {
			part.Compare = append(part.Compare, c)
		}
	}
	return part
}

func (n *virtualKeys) ordinaryOps(ops []*pb.RequestOp) (part []*pb.RequestOp) {
	for _, op := range ops {
		inner := op.GetRequestTxn()
		switch {
		case inner != nil:
			part = append(part, &pb.RequestOp{Request: &pb.RequestOp_RequestTxn{RequestTxn: n.ordinaryPart(inner)}})
		case !n.touchedBy(op):
			part = append(part, op)
		}
	}
	return part
}
