package etcd

import (
	"context"

	"go.etcd.io/etcd/api/v3/mvccpb"
)

// queueWatch is a wish to watch keys of queues.
type queueWatch struct {
	key, end []byte // end nil: this key alone; empty but not nil: all keys from this one on
	start    int64  // the revision to begin with; 0: what there is and what comes
	prevKV   bool   // events carry what the key held before
	noPut    bool   // events of this kind are not wanted
	noDelete bool
}

// queueWatches opens watches of keys that belong to the queues, on the streams that also watch ordinary keys.
type queueWatches interface {
	// ownsWatch tells whether a watch that begins at key belongs to the queues.
	ownsWatch(key []byte) bool
	// watch opens one for the caller of ctx, which lives as long as the stream; an error is told to the client as the reason for canceling.
	// Whenever there is something to take after there was nothing, ready is called: on any goroutine, also before watch returns; it neither
	// blocks nor calls back. No event will have a revision below since: a client that lost the stream before its first event comes back
	// with that.
	watch(ctx context.Context, w queueWatch, ready func()) (x queueWatcher, since int64, err error)
	// revision is the present time on the clock of queue keys, for headers.
	revision() int64
}

// queueWatcher is an open watch of keys of queues. It holds the events that were not taken; how many there can be is bounded by what a
// consumer may hold unacknowledged.
type queueWatcher interface {
	// take returns the events that happened since it was last called, each with its revision, which never falls, and forgets them.
	// An error, after the last events, says that the watch is over and why. One goroutine calls it.
	take() ([]*mvccpb.Event, error)
	// close ends the watch; what was not taken is dropped, and ready may still be called once.
	close()
}
