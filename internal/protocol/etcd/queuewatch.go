package etcd

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
)

// queueWatches opens watches of keys that belong to the queues, on the streams that also watch ordinary keys.
type queueWatches interface {
	// Watch opens one, with the filters of the request, which lives as long as the stream of ctx; an error is told to the client as the reason
	// for canceling. Whenever there is something to take after there was nothing, ready is called: on any goroutine, also before Watch
	// returns; it neither blocks nor calls back. No event will have a revision below since: a client that lost the stream before its first
	// event comes back with that.
	Watch(ctx context.Context, who *identity, r *pb.WatchCreateRequest, ready func()) (w queueWatcher, since int64, err error)
	// Revision is the present time on the clock of queue keys, for headers.
	Revision() int64
}

// queueWatcher is an open watch of keys of queues. It holds the events that were not taken; how many there can be is bounded by what a
// consumer may hold unacknowledged.
type queueWatcher interface {
	// Take returns the events that happened since it was last called, oldest first, each with its revision, which never falls, and forgets
	// them; and the revision of the last. An error, after the last events, says that the watch is over and why. One goroutine calls it.
	Take() (events []*mvccpb.Event, revision int64, ended error)
	// Close ends the watch; what was not taken is dropped, and ready may still be called. It may take a moment.
	Close()
}
