package etcd

import pb "go.etcd.io/etcd/api/v3/etcdserverpb"

// reportProgress tells the watchers that want it and had no event since the last look how far they are.
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

// progressOf reports for one watcher. That of ordinary keys comes through mvcc, behind the events before it, and only if none are missing.
func (w *watchStream) progressOf(x *watcher) error {
	switch {
	case x.ordinary:
		w.kv.RequestProgress(x.kvID)
	case x.queue != nil:
		return w.queueProgress(x)
	}
	return nil
}

// queueProgress reports the last event that a watcher of queues was sent, after those that were ready. The present time would be too much: an
// event may have got its revision and be on its way here.
func (w *watchStream) queueProgress(x *watcher) error {
	if err := w.takeFrom(x); err != nil || x.queue == nil {
		return err
	}
	return w.stream.Send(&pb.WatchResponse{Header: w.header(x.seen), WatchId: x.id})
}

// progressOfAll answers a request for progress. One answer speaks for all watchers of ordinary keys, as in etcd; those of queues live on
// another clock and get one each.
func (w *watchStream) progressOfAll() error {
	w.kv.RequestProgressAll()
	for _, x := range w.watchers {
		if x.queue == nil {
			continue
		}
		if err := w.queueProgress(x); err != nil {
			return err
		}
	}
	return nil
}
