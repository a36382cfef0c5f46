package etcd

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
)

// virtualWatches opens watches of virtual keys, on the streams that also watch ordinary keys.
type virtualWatches interface {
	// holds reports whether a key is virtual.
	holds(key []byte) bool
	// Watch opens one, with the filters of the request, which lives as long as the stream of ctx;
	// an error is told to the client as the reason for canceling. Whenever there is something to
	// take after there was nothing, ready is called: on any goroutine, also before Watch returns;
	// it neither blocks nor calls back. No event will have a revision below since: a client that
	// lost the stream before its first event comes back with that.
	Watch(ctx context.Context, who *identity, r *pb.WatchCreateRequest, ready func()) (w virtual.Watcher, since int64, err error)
	// Revision is the present time on the clock of virtual keys, for headers.
	Revision() int64
}
