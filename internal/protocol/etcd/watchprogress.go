package etcd

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
)

// reportProgress tells the watchers that want it and had no event since the last look how far they
// are.
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

// progressOf reports for one watcher. That of ordinary keys comes through mvcc, behind the events
// before it, and only if none are missing.
func (w *watchStream) progressOf(x *watcher) error {
	switch {
	case x.ordinary:
		w.kv.RequestProgress(x.kvID)
		return w.makeRoom()
	case x.virtual != nil:
		return w.virtualProgress(x)
	}
	return nil
}

// makeRoom sends what mvcc has handed over when that is much: it drops reports of progress that
// find no room.
func (w *watchStream) makeRoom() error {
	if len(w.kv.Chan()) < mvcc.ChanBufLen()/2 {
		return nil
	}
	for len(w.kv.Chan()) > 0 {
		if err := w.ordinaryEvents(<-w.kv.Chan()); err != nil {
			return err
		}
	}
	return nil
}

// virtualProgress reports how far a watcher of virtual keys is, after the events that were ready.
// The present time would be too much: an event may have got its revision and be on its way here.
func (w *watchStream) virtualProgress(x *watcher) error {
	if err := w.takeFrom(x); err != nil || x.virtual == nil {
		return err
	}
	return w.stream.Send(&pb.WatchResponse{Header: w.header(x.seen), WatchId: x.id})
}

// askProgress answers a request for the progress of all watchers. mvcc reports for those of
// ordinary keys together, if none lags behind.
func (w *watchStream) askProgress() error {
	if len(w.kv.Chan()) == 0 {
		w.asked = w.asked[:0] // what is still in it found no room
	}
	if len(w.byKV) > 0 && w.kv.RequestProgressAll() {
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

// progressOfAll sends what mvcc reports of all watchers there were when it was asked. One response
// speaks for the whole stream, as in etcd, when it holds for all: clients go on from there when
// they have lost the stream. Younger watchers may lag behind, and virtual keys have another clock.
func (w *watchStream) progressOfAll(revision int64) error {
	var asked int64
	if len(w.asked) > 0 {
		asked, w.asked = w.asked[0], w.asked[1:]
	}
	if asked == w.made && !w.anyVirtual() {
		return w.stream.Send(&pb.WatchResponse{Header: w.header(revision), WatchId: noWatcher})
	}
	for _, x := range w.byKV {
		if x.number > asked {
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
