package etcd

import (
	"context"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"fiveways.dev/fiveways/internal/protocol/etcd/inproc"
)

// inside calls the services of this server without a network. Lock and Election need it: they are
// recipes of etcd's client library.
type inside struct {
	conn     *inproc.Conn
	draining context.Context
}

func newInside(s *Server, x *services) *inside {
	conn := inproc.New(s.admitUnary, s.admitStream)
	pb.RegisterKVServer(conn, x.kv)
	pb.RegisterLeaseServer(conn, x.leases)
	pb.RegisterWatchServer(conn, x.watch)
	return &inside{conn, s.draining}
}

// client returns a client for one call. Everything it does has the identity of the caller of that
// call, including the cleanup after a canceled call, such as deleting the key of a lock.
func (i *inside) client(ctx context.Context) *clientv3.Client {
	c := clientv3.NewCtxClient(context.WithValue(context.WithoutCancel(ctx), afterwardsKey{}, true))
	c.KV = clientv3.NewKVFromKVClient(pb.NewKVClient(i.conn), c)
	c.Lease = clientv3.NewLeaseFromLeaseClient(pb.NewLeaseClient(i.conn), c, time.Second)
	c.Watcher = clientv3.NewWatchFromWatchClient(pb.NewWatchClient(i.conn), c)
	return c
}

// through makes a call of a service that works through a client, with a client of its own. The call
// ends when the server drains or its user is deleted, since some calls wait for others without
// limit.
func through[S, Q, R any](
	i *inside, ctx context.Context, r Q, serve func(*clientv3.Client) S, call func(S, context.Context, Q) (R, error),
) (R, error) {
	c := i.client(ctx)
	defer c.Close() //nolint:errcheck // it only reports that it is closed
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(i.draining, cancel)()
	defer whileSeated(ctx, cancel)()
	resp, err := call(serve(c), ctx, r)
	switch over := unseated(ctx); {
	case err == nil:
	case i.draining.Err() != nil:
		err = rpctypes.ErrGRPCStopped
	case over != nil:
		err = over
	}
	return resp, err
}
