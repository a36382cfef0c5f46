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

// watchStream is one stream of watches. One goroutine does everything on it, requests and
// responses, so that a watcher is always announced before its events and heard of no more after its
// end. It holds no events: those of ordinary keys wait in mvcc, which sets a slow stream aside and
// reads the history again for it; those of virtual keys wait in their watchers, which are bounded.
type watchStream struct {
	*watchService
	stream pb.Watch_WatchServer
	kv     mvcc.WatchStream

	next     int64 // the first id that was never given to a watcher whose client left the choice to us
	watchers map[int64]*watcher
	byKV     map[mvcc.WatchID]*watcher // those of ordinary keys, by mvcc's id, which is never used again
	made     int64                     // how many watchers there have been
	asked    []int64                   // made, at each request for progress that mvcc has not answered

	waiting readyWatchers
}

// watcher is one of a stream. Exactly one of virtual and ordinary is what it watches; both are
// unset once it is over but still holds its id.
type watcher struct {
	id       int64
	number   int64 // among those of the stream, from 1
	virtual  virtual.Watcher
	ordinary bool
	kvID     mvcc.WatchID
	prevKV   bool
	fragment bool
	progress bool  // wants reports of progress
	quiet    bool  // had no event since the last look
	seen     int64 // of virtual keys: the revision up to which all was sent
	marked   bool  // is among the ready ones; under readyWatchers.mu
}

func newWatchStream(s *watchService, stream pb.Watch_WatchServer) *watchStream {
	return &watchStream{
		watchService: s, stream: stream, kv: s.keys.NewWatchStream(),
		watchers: map[int64]*watcher{}, byKV: map[mvcc.WatchID]*watcher{},
		waiting: readyWatchers{wake: make(chan struct{}, 1)},
	}
}

// run serves until something ends the stream, and says what.
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

// close ends all watchers. Events that mvcc handed over and that were not sent are counted as
// received, as its gauge of pending events requires.
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
	return nil // a request that a later version knows: as etcd, no reason to end the stream
}

// cancel ends a watcher. One that is not there is not spoken of.
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

// end makes a watcher silent. Its id stays taken as long as it is in watchers.
func (w *watchStream) end(x *watcher) {
	switch {
	case x.virtual != nil:
		x.virtual.Close()
		x.virtual = nil
	case x.ordinary:
		_ = w.kv.Cancel(x.kvID) // it is there: only end removes it
		delete(w.byKV, x.kvID)
		x.ordinary = false
	}
}

// now is the revision on the clock of virtual keys, or on that of ordinary ones.
func (w *watchStream) now(isVirtual bool) int64 {
	if isVirtual {
		return w.virtual.Revision()
	}
	return w.kv.Rev()
}

// readyWatchers gathers the watchers of virtual keys that have something to take.
type readyWatchers struct {
	wake chan struct{} // holds one when list is not empty

	mu   sync.Mutex
	list []*watcher
	free []*watcher // the list before this one, to be used again
}

// add notes that x has something. It does not block.
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

// all returns those that were added since the last call; they are valid until the next one.
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

// noWatcher is the id in responses that belong to no watcher, or to all.
const noWatcher = clientv3.InvalidWatchID
