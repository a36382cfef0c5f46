package etcd

import (
	"bytes"
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
)

// create opens a watcher and answers. If a request is invalid, the answer says so and is marked
// canceled, and the stream continues.
func (w *watchStream) create(ctx context.Context, r *pb.WatchCreateRequest) error {
	if len(r.Key) == 0 {
		r.Key = []byte{0} // the smallest key
	}
	isVirtual := w.virtual.holds(r.Key)
	x, err := w.open(ctx, r, isVirtual)
	answer := &pb.WatchResponse{Created: true}
	switch {
	case err != nil:
		answer.WatchId, answer.Canceled, answer.CancelReason = noWatcher, true, err.Error()
		answer.Header = w.header(w.now(isVirtual))
	case isVirtual:
		answer.WatchId, answer.Header = x.id, w.header(x.seen+1)
	default:
		answer.WatchId, answer.Header = x.id, w.header(w.kv.Rev())
	}
	return w.stream.Send(answer)
}

func (w *watchStream) open(ctx context.Context, r *pb.WatchCreateRequest, isVirtual bool) (*watcher, error) {
	if r.StartRevision < 0 {
		return nil, rpctypes.ErrCompacted
	}
	who, err := w.permit(ctx, r)
	if err != nil {
		return nil, err
	}
	end := endOfWatch(r.RangeEnd)
	if len(end) != 0 && bytes.Compare(r.Key, end) >= 0 {
		return nil, mvcc.ErrEmptyWatcherRange
	}
	id, err := w.idFor(r.WatchId)
	if err != nil {
		return nil, err
	}
	x := &watcher{id: id, prevKV: r.PrevKv, fragment: r.Fragment, progress: r.ProgressNotify, quiet: true}
	if isVirtual {
		var since int64
		if x.virtual, since, err = w.virtual.Watch(ctx, who, r, func() { w.waiting.add(x) }); err != nil {
			return nil, err
		}
		x.seen = since - 1
	} else {
		if err := w.follow(ctx, x, r, end); err != nil {
			return nil, err
		}
	}
	w.made++
	x.number = w.made
	w.watchers[id] = x
	if r.WatchId == clientv3.AutoWatchID {
		w.next = id + 1
	}
	return x, nil
}

// endOfWatch converts a range end to mvcc's form: nil for a single key, empty for all keys from the
// first on.
func endOfWatch(end []byte) []byte {
	switch {
	case len(end) == 0:
		return nil
	case len(end) == 1 && end[0] == 0:
		return []byte{}
	}
	return end
}

// idFor returns the ID of a new watcher: the client's choice, or the next free one.
func (w *watchStream) idFor(chosen int64) (int64, error) {
	if chosen == clientv3.AutoWatchID {
		id := w.next
		for w.watchers[id] != nil {
			id++
		}
		return id, nil
	}
	if w.watchers[chosen] != nil {
		return 0, mvcc.ErrWatcherDuplicateID
	}
	return chosen, nil
}

func filters(wanted []pb.WatchCreateRequest_FilterType) (fs []mvcc.FilterFunc) {
	for _, f := range wanted {
		switch f {
		case pb.WatchCreateRequest_NOPUT:
			fs = append(fs, func(e *mvccpb.Event) bool { return e.Type == mvccpb.Event_PUT })
		case pb.WatchCreateRequest_NODELETE:
			fs = append(fs, func(e *mvccpb.Event) bool { return e.Type == mvccpb.Event_DELETE })
		}
	}
	return fs
}
