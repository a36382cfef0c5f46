package etcd

import (
	"context"
	"errors"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/metadata"

	"fiveways/internal/protocol/etcd/inproc"
)

// innerClient is a client of this server without a network between: the services Lock and Election are recipes of etcd's client library.
//
// Its calls go to the services directly, in the context of the caller, so that they are made by whoever asked for the lock.
type innerClient struct{ *clientv3.Client }

func newInnerClient(s *Server, kv pb.KVServer, leases pb.LeaseServer, watch pb.WatchServer) *innerClient {
	conn := inproc.New(s.admitUnary, s.admitStream)
	pb.RegisterKVServer(conn, kv)
	pb.RegisterLeaseServer(conn, leases)
	pb.RegisterWatchServer(conn, watch)
	c := clientv3.NewCtxClient(context.Background())
	c.KV = clientv3.NewKVFromKVClient(pb.NewKVClient(conn), c)
	c.Lease = clientv3.NewLeaseFromLeaseClient(pb.NewLeaseClient(conn), c, time.Second)
	c.Watcher = &innerWatcher{clientv3.NewWatchFromWatchClient(pb.NewWatchClient(conn), c)}
	return &innerClient{c}
}

// close ends what the recipes still wait for.
func (c *innerClient) close() error {
	if err := c.Client.Close(); !errors.Is(err, context.Canceled) { // which is how it tells that it is closed
		return err
	}
	return nil
}

// innerWatcher keeps the watches of different users on different streams: a stream is made by the first and would else carry the others' too.
type innerWatcher struct{ clientv3.Watcher }

// innerUser is metadata that tells streams apart; nobody reads it.
const innerUser = "fiveways-user"

func (w *innerWatcher) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	if who, ok := ctx.Value(identityKey{}).(*identity); ok {
		ctx = metadata.AppendToOutgoingContext(ctx, innerUser, who.user)
	}
	return w.Watcher.Watch(ctx, key, opts...)
}
