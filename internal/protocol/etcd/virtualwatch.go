package etcd

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
)

// virtualWatches opens watches of virtual keys, on streams that also watch ordinary keys.
type virtualWatches interface {
	// holds reports whether a key is virtual.
	holds(key []byte) bool
	// Watch opens a watch, with the filters of the request, which lives as long as the stream of
	// ctx. The client receives an error as the reason of the cancellation. ready is called whenever
	// there is something to take after there was nothing, on any goroutine, possibly before Watch
	// returns. It neither blocks nor calls back. No event will have a revision below since: a
	// client that loses the stream before its first event resumes from there.
	Watch(ctx context.Context, who *identity, r *pb.WatchCreateRequest, ready func()) (w virtual.Watcher, since int64, err error)
	// Revision returns the current time on the clock of virtual keys, for headers.
	Revision() int64
}
