package etcd

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
)

// reportProgress sends a progress notification to each watcher that asked for it and had no event
// since the last call.
func (w *watchStream) reportProgress() error {
	for _, x := range w.watchers {
		if !x.progress {
			continue
		}
		if x.quiet {
			if err := w.progressOf(x); err != nil {
				return err
			}
		}
		x.quiet = true
	}
	return nil
}

// progressOf sends a progress notification to one watcher. For ordinary keys it comes through mvcc,
// after the earlier events, and only if none are missing.
func (w *watchStream) progressOf(x *watcher) error {
	switch {
	case x.source != nil:
		x.due = true
		w.kv.RequestProgress(x.source.id)
		return w.makeRoom()
	case x.virtual != nil:
		return w.virtualProgress(x)
	}
	return nil
}

// makeRoom sends what mvcc has delivered if its channel is half full: mvcc drops progress
// notifications that do not fit.
func (w *watchStream) makeRoom() error {
	if len(w.kv.Chan()) < mvcc.ChanBufLen()/2 {
		return nil
	}
	return w.allOrdinary(<-w.kv.Chan())
}

// virtualProgress reports the revision up to which a watcher of virtual keys has everything, after
// sending the events that are ready. The current time would be too high: an event may already have
// that revision without having arrived here.
func (w *watchStream) virtualProgress(x *watcher) error {
	if err := w.takeFrom(x); err != nil || x.virtual == nil {
		return err
	}
	return w.stream.Send(&pb.WatchResponse{Header: w.header(x.seen), WatchId: x.id})
}

// askProgress answers a request for the progress of all watchers. mvcc reports for all watchers of
// ordinary keys together, if none lags behind.
func (w *watchStream) askProgress() error {
	if len(w.kv.Chan()) == 0 {
		w.asked = w.asked[:0] // requests that are still listed were dropped by mvcc
	}
	if len(w.sources) > 0 && w.kv.RequestProgressAll() {
		w.asked = append(w.asked, w.made)
	}
	for _, x := range w.watchers {
		if x.virtual == nil {
			continue
		}
		if err := w.virtualProgress(x); err != nil {
			return err
		}
	}
	return nil
}

// progressOfAll sends mvcc's report about all watchers that existed when it was requested. As in
// etcd, one response covers the whole stream if it holds for all watchers: clients resume from
// there if they lose the stream. Newer watchers may lag behind, and virtual keys have another
// clock.
func (w *watchStream) progressOfAll(revision int64) error {
	var asked int64
	if len(w.asked) > 0 {
		asked, w.asked = w.asked[0], w.asked[1:]
	}
	if asked == w.made && !w.anyVirtual() {
		return w.stream.Send(&pb.WatchResponse{Header: w.header(revision), WatchId: noWatcher})
	}
	for _, x := range w.watchers {
		if x.source == nil || x.number > asked {
			continue
		}
		if err := w.stream.Send(&pb.WatchResponse{Header: w.header(revision), WatchId: x.id}); err != nil {
			return err
		}
	}
	return nil
}

func (w *watchStream) anyVirtual() bool {
	for _, x := range w.watchers {
		if x.virtual != nil {
			return true
		}
	}
	return false
}
