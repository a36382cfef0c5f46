package etcd

import (
	"context"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/storage/mvcc"

	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
	"fiveways.dev/fiveways/internal/protocol/grpcwire"
)

// watchStream is one stream of watches. One goroutine handles all its requests and responses, so
// that a watcher is always announced before its events and never mentioned after its end. The
// stream buffers no events. Those of ordinary keys wait in mvcc, which sets a slow stream aside and
// reads the history again for it. Those of virtual keys wait in their watchers, which are bounded.
type watchStream struct {
	*watchService
	stream pb.Watch_WatchServer
	kv     mvcc.WatchStream

	next     int64 // the lowest ID not yet given to a watcher without an ID of the client's choice
	watchers map[int64]*watcher
	sources  map[mvcc.WatchID]*source // of ordinary keys
	shared   map[watchedKeys]*source  // those that further watchers may share
	made     int64                    // number of watchers created
	asked    []int64                  // made, at each progress request that mvcc has not answered

	collected []*source // with events to send
	waiting   readyWatchers
}

// watcher is one watcher of a stream. It watches either virtual or ordinary keys. After its end,
// while it still occupies its ID, both virtual and source are nil.
type watcher struct {
	id       int64
	number   int64 // sequence number in the stream, from 1
	virtual  virtual.Watcher
	source   *source
	from     int64 // for ordinary keys: the first revision that it wants
	prevKV   bool
	fragment bool
	progress bool  // wants progress notifications
	quiet    bool  // had no event since the last reportProgress
	due      bool  // for ordinary keys: mvcc was asked for its progress
	seen     int64 // for virtual keys: the revision up to which everything was sent
	marked   bool  // is in the list of readyWatchers; guarded by readyWatchers.mu
}

func newWatchStream(s *watchService, stream pb.Watch_WatchServer) *watchStream {
	return &watchStream{
		watchService: s, stream: stream, kv: s.keys().NewWatchStream(),
		watchers: map[int64]*watcher{}, sources: map[mvcc.WatchID]*source{}, shared: map[watchedKeys]*source{},
		waiting: readyWatchers{wake: make(chan struct{}, 1)},
	}
}

// run serves the stream until it ends, and returns the reason.
func (w *watchStream) run(requests <-chan *pb.WatchRequest, failed <-chan error) error {
	tick := time.NewTicker(w.progressInterval())
	defer tick.Stop()
	ctx := w.stream.Context()
	for {
		var err error
		select {
		case r := <-requests:
			err = w.request(ctx, r)
		case r := <-w.kv.Chan():
			err = grpcwire.Gather(ctx, func() error { return w.allOrdinary(r) })
		case <-w.waiting.wake:
			err = grpcwire.Gather(ctx, w.virtualEvents)
		case <-tick.C:
			err = w.reportProgress()
		case err = <-failed:
		case <-ctx.Done():
			err = ctx.Err()
		case <-w.over.Done():
			err = rpctypes.ErrGRPCStopped
		}
		if err != nil {
			return err
		}
	}
}

// close ends all watchers. Events that mvcc delivered but that were not sent count as received, as
// its gauge of pending events requires.
func (w *watchStream) close() {
	for _, x := range w.watchers {
		if x.virtual != nil {
			x.virtual.Close()
		}
	}
	w.kv.Close()
	for r := range w.kv.Chan() {
		mvcc.ReportEventReceived(len(r.Events))
	}
}

func (w *watchStream) request(ctx context.Context, r *pb.WatchRequest) error {
	switch r := r.RequestUnion.(type) {
	case *pb.WatchRequest_CreateRequest:
		if r.CreateRequest != nil {
			return w.create(ctx, r.CreateRequest)
		}
	case *pb.WatchRequest_CancelRequest:
		if r.CancelRequest != nil {
			return w.cancel(r.CancelRequest.WatchId)
		}
	case *pb.WatchRequest_ProgressRequest:
		if r.ProgressRequest != nil {
			return w.askProgress()
		}
	}
	return nil // a request of a later version: as in etcd, it does not end the stream
}

// cancel ends a watcher. An unknown ID is ignored.
func (w *watchStream) cancel(id int64) error {
	x := w.watchers[id]
	if x == nil {
		return nil
	}
	revision := w.now(x.virtual != nil)
	w.end(x)
	delete(w.watchers, id)
	return w.stream.Send(&pb.WatchResponse{Header: w.header(revision), WatchId: id, Canceled: true})
}

// end stops a watcher. Its ID stays in use as long as it is in watchers.
func (w *watchStream) end(x *watcher) {
	switch {
	case x.virtual != nil:
		x.virtual.Close()
		x.virtual = nil
	case x.source != nil:
		w.leave(x)
	}
}

// now returns the revision on the clock of virtual keys, or on that of ordinary ones.
func (w *watchStream) now(isVirtual bool) int64 {
	if isVirtual {
		return w.virtual.Revision()
	}
	return w.kv.Rev()
}

// readyWatchers collects the watchers of virtual keys that have something to take.
type readyWatchers struct {
	wake chan struct{} // full when list is not empty

	mu   sync.Mutex
	list []*watcher
	free []*watcher // the previous list, for reuse
}

// add records that x has something to take. It does not block.
func (r *readyWatchers) add(x *watcher) {
	r.mu.Lock()
	first := !x.marked && len(r.list) == 0
	if !x.marked {
		x.marked = true
		r.list = append(r.list, x)
	}
	r.mu.Unlock()
	if first {
		select {
		case r.wake <- struct{}{}:
		default:
		}
	}
}

// all returns the watchers added since the last call. The slice is valid until the next call.
func (r *readyWatchers) all() []*watcher {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.list
	clear(r.free)
	r.list, r.free = r.free[:0], list
	for _, x := range list {
		x.marked = false
	}
	return list
}

// isCreation reports whether a key did not exist before the event.
func isCreation(e *mvccpb.Event) bool {
	return e.Type == mvccpb.Event_PUT && e.Kv.CreateRevision == e.Kv.ModRevision
}

// noWatcher is the ID in responses that concern no watcher, or all.
const noWatcher = clientv3.InvalidWatchID
