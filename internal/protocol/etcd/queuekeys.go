package etcd

import (
	"context"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/protobuf/proto"

	"fiveways/internal/protocol/etcd/queues"
)

// queueCloseWait is how long the consumers that are left may take to give back what they hold when the server ends.
const queueCloseWait = 10 * time.Second

// namespace is the keys below /q/ and /queue/ as the services ask for them. They are not in the store: they are made of the broker's queues as
// somebody asks.
//
// The methods are given requests that passed the checks of etcd (kvcheck.go) and return etcd's errors (errors.go). The headers of what they
// return are complete.
type namespace struct {
	*queues.Namespace
	srv *Server
}

func newQueueKeys(s *Server) *namespace {
	guarantee := queues.Local
	if s.o.PutsAtOnce {
		guarantee = queues.None
	}
	n := queues.New(s.broker, queues.Options{
		Node: s.o.NodeName, Guarantee: guarantee, ConsumerLimit: s.o.ConsumerLimit, ConsumerIdle: s.o.ConsumerIdle,
		Header: func(revision int64) *pb.ResponseHeader {
			h := &pb.ResponseHeader{Revision: revision}
			s.keys.Fill(h)
			return h
		},
		LeaseExists: s.keys.LeaseExists, Store: s.keys,
	})
	s.keys.OnLeaseGone(n.LeaseEnded)
	return &namespace{n, s}
}

// caller is who asks, as the queues want to know it. A call from inside has nobody's permissions.
func (who *identity) caller() (queues.Caller, error) {
	if who.session == nil {
		return queues.Caller{}, rpctypes.ErrGRPCPermissionDenied
	}
	return queues.Caller{Session: who.session, User: who.user, Root: who.root}, nil
}

// asked does what a request asks of the queues, for who asks.
func asked[R, A any](who *identity, r R, do func(queues.Caller, R) (A, error)) (answer A, err error) {
	caller, err := who.caller()
	if err == nil {
		answer, err = do(caller, r)
	}
	return answer, reply(err)
}

// fits refuses requests that are larger than those of ordinary keys may be.
func (n *namespace) fits(r proto.Message) error {
	if proto.Size(r) > n.srv.o.MaxRequestBytes {
		return rpctypes.ErrGRPCRequestTooLarge
	}
	return nil
}

// mayEndLease tells whether who may end a lease, as far as it keeps consumers.
func (n *namespace) mayEndLease(who *identity, lease int64) error {
	return n.MayEndLease(queues.Caller{User: who.user, Root: who.root}, lease)
}

// Put publishes a message or makes a consumer.
func (n *namespace) Put(_ context.Context, who *identity, r *pb.PutRequest) (*pb.PutResponse, error) {
	if err := n.fits(r); err != nil {
		return nil, err
	}
	return asked(who, r, n.Namespace.Put)
}

// Range reads.
func (n *namespace) Range(_ context.Context, who *identity, r *pb.RangeRequest) (*pb.RangeResponse, error) {
	return asked(who, r, n.Namespace.Range)
}

// DeleteRange acknowledges deliveries, ends a consumer or drops a queue.
func (n *namespace) DeleteRange(_ context.Context, who *identity, r *pb.DeleteRangeRequest) (*pb.DeleteRangeResponse, error) {
	return asked(who, r, n.Namespace.DeleteRange)
}

// Txn does a transaction of which a comparison or an operation has a key of queues, with the ordinary keys in it.
func (n *namespace) Txn(ctx context.Context, who *identity, r *pb.TxnRequest) (*pb.TxnResponse, error) {
	if err := n.fits(r); err != nil {
		return nil, err
	}
	return asked(who, r, func(caller queues.Caller, r *pb.TxnRequest) (*pb.TxnResponse, error) {
		return n.Namespace.Txn(ctx, caller, r, func() error { return n.srv.mayTxn(who, r) })
	})
}

// Close ends what runs in the background. No method is called afterwards.
func (n *namespace) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), queueCloseWait)
	defer cancel()
	n.Namespace.Close(ctx)
	return nil
}

// Watch implements queueWatches.
func (n *namespace) Watch(_ context.Context, who *identity, r *pb.WatchCreateRequest, ready func()) (queueWatcher, int64, error) {
	caller, err := who.caller()
	if err != nil {
		return nil, 0, err
	}
	w, since, err := n.Namespace.Watch(caller, r, ready)
	if err != nil {
		return nil, 0, reply(err)
	}
	return w, since, nil
}
