package etcd

import (
	"context"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/protobuf/proto"

	"fiveways.dev/fiveways/internal/protocol/etcd/queues"
	"fiveways.dev/fiveways/internal/protocol/etcd/semkeys"
	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
)

// virtualCloseWait is how long virtual keys may take to shut down: consumers return the messages
// that they hold.
const virtualCloseWait = 10 * time.Second

// virtualKeys serves the keys of queues and semaphores. They are not stored: they are derived from
// the broker's state on each request.
//
// The methods expect requests that passed the checks of etcd (kvcheck.go) and return etcd's errors
// (errors.go). The headers of their results are complete.
type virtualKeys struct {
	*virtual.Base
	srv        *Server
	queues     *queues.Namespace
	semaphores *semkeys.Namespace // nil: none are served
	families   []family
	txns       virtual.Txns
}

func newVirtualKeys(s *Server) *virtualKeys {
	base := virtual.NewBase(s.broker, virtual.Options{
		Header: func(revision int64) *pb.ResponseHeader {
			h := &pb.ResponseHeader{Revision: revision}
			s.keys.Fill(h)
			return h
		},
		LeaseExists: s.keys.LeaseExists, Store: s.keys,
	})
	guarantee := queues.Local
	if s.o.PutsAtOnce {
		guarantee = queues.None
	}
	q := queues.New(base, queues.Options{
		Node: s.o.NodeName, Guarantee: guarantee, ConsumerLimit: s.o.ConsumerLimit, ConsumerIdle: s.o.ConsumerIdle,
	})
	s.keys.OnLeaseGone(q.LeaseEnded)
	n := &virtualKeys{Base: base, srv: s, queues: q, families: []family{q}}
	if s.o.Semaphores != nil {
		n.semaphores = semkeys.New(base, s.o.Semaphores, s.log)
		s.keys.OnLeaseGone(n.semaphores.LeaseEnded)
		n.families = append(n.families, n.semaphores)
	}
	n.txns = virtual.Txns{Base: base, Semaphores: s.o.Semaphores}
	for _, f := range n.families {
		n.txns.Families = append(n.txns.Families, f)
	}
	return n
}

// caller returns the user of a request in the form that virtual keys need. An internal call has no
// user's permissions.
func (who *identity) caller() (virtual.Caller, error) {
	if who.session == nil {
		return virtual.Caller{}, rpctypes.ErrGRPCPermissionDenied
	}
	return virtual.Caller{Session: who.session, User: who.user, Root: who.root}, nil
}

// asked executes a request on virtual keys for its caller.
func asked[R, A any](who *identity, r R, do func(virtual.Caller, R) (A, error)) (answer A, err error) {
	caller, err := who.caller()
	if err == nil {
		answer, err = do(caller, r)
	}
	return answer, reply(err)
}

// fits refuses requests that exceed the size limit of ordinary keys.
func (n *virtualKeys) fits(r proto.Message) error {
	if proto.Size(r) > n.srv.o.MaxRequestBytes {
		return rpctypes.ErrGRPCRequestTooLarge
	}
	return nil
}

// mayEndLease checks that the caller may end a lease, as far as virtual keys are attached to it.
func (n *virtualKeys) mayEndLease(who *identity, lease int64) error {
	for _, f := range n.families {
		if err := f.MayEndLease(virtual.Caller{Session: who.session, User: who.user, Root: who.root}, lease); err != nil {
			return err
		}
	}
	return nil
}

// awaitLeaseEnd returns when the tasks that a revoked lease owned are removed. It does not wait for
// consumers of queues: what they held goes to others.
func (n *virtualKeys) awaitLeaseEnd(ctx context.Context, lease int64) {
	if n.semaphores != nil {
		n.semaphores.AwaitLeaseEnd(ctx, lease)
	}
}

// leaseKeys returns the virtual keys of a lease that the caller may see.
func (n *virtualKeys) leaseKeys(who *identity, lease int64) (keys [][]byte) {
	for _, f := range n.families {
		keys = append(keys, f.LeaseKeys(virtual.Caller{Session: who.session, User: who.user, Root: who.root}, lease)...)
	}
	return keys
}

// Put puts a key of f.
func (n *virtualKeys) Put(ctx context.Context, f family, who *identity, r *pb.PutRequest) (*pb.PutResponse, error) {
	if err := n.fits(r); err != nil {
		return nil, err
	}
	return asked(who, r, func(caller virtual.Caller, r *pb.PutRequest) (*pb.PutResponse, error) { return f.Put(ctx, caller, r) })
}

// Txn executes a transaction with a virtual key in a comparison or an operation, including its
// ordinary keys.
func (n *virtualKeys) Txn(ctx context.Context, who *identity, r *pb.TxnRequest) (*pb.TxnResponse, error) {
	if err := n.fits(r); err != nil {
		return nil, err
	}
	return asked(who, r, func(caller virtual.Caller, r *pb.TxnRequest) (*pb.TxnResponse, error) {
		return n.txns.Do(ctx, caller, r, func() error { return n.srv.mayTxn(who, r) })
	})
}

// Close ends background work. No method is called afterwards.
func (n *virtualKeys) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), virtualCloseWait)
	defer cancel()
	for _, f := range n.families {
		f.Close(ctx)
	}
	return nil
}

// Watch implements virtualWatches.
func (n *virtualKeys) Watch(_ context.Context, who *identity, r *pb.WatchCreateRequest, ready func()) (virtual.Watcher, int64, error) {
	caller, err := who.caller()
	if err != nil {
		return nil, 0, err
	}
	w, since, err := n.of(r.Key).Watch(caller, r, ready)
	return w, since, reply(err)
}

// Revision implements virtualWatches.
func (n *virtualKeys) Revision() int64 { return n.Clock.Current() }
