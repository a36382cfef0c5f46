package etcd

import (
	"cmp"
	"context"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
)

// source is a watcher of mvcc for one or more watchers of a stream. mvcc has room for 128 responses
// of a stream. It serves a watcher whose response does not fit from history, ten times a second. So
// watchers of the same keys share a source.
type source struct {
	id       mvcc.WatchID // unique in the stream; never reused
	keys     watchedKeys
	watchers []*watcher
	apart    bool // a watcher wants previous values, which may be large: responses are not merged

	events   []*mvccpb.Event // to be sent
	bytes    int             // of keys and values in events
	revision int64           // of the last response
}

// watchedKeys are the keys from first up to but not including end, or only first.
type watchedKeys struct {
	first, end string
	one        bool
}

// follow connects x to a source for the keys from r.Key to end. It shares one if x wants all events
// from now on.
func (w *watchStream) follow(ctx context.Context, x *watcher, r *pb.WatchCreateRequest, end []byte) error {
	keys := watchedKeys{string(r.Key), string(end), end == nil}
	share := r.StartRevision == 0 && len(r.Filters) == 0
	x.from = cmp.Or(r.StartRevision, w.kv.Rev()+1)
	if share && w.shared[keys] != nil {
		w.shared[keys].add(x)
		return nil
	}
	if err := w.connect(ctx, x, keys, r.StartRevision, filters(r.Filters)...); err != nil {
		return err
	}
	if share {
		w.shared[keys] = x.source
	}
	return nil
}

// connect connects x to a source of its own.
func (w *watchStream) connect(ctx context.Context, x *watcher, keys watchedKeys, from int64, fs ...mvcc.FilterFunc) error {
	var end []byte
	if !keys.one {
		end = []byte(keys.end)
	}
	id, err := w.kv.Watch(ctx, clientv3.AutoWatchID, []byte(keys.first), end, from, fs...)
	if err != nil {
		return err
	}
	src := &source{id: id, keys: keys}
	w.sources[id] = src
	src.add(x)
	return nil
}

func (src *source) add(x *watcher) {
	src.watchers = append(src.watchers, x)
	src.apart = src.apart || x.prevKV
	x.source = src
}

// leave disconnects x from its source, which ends if it was the last.
func (w *watchStream) leave(x *watcher) {
	src := x.source
	x.source = nil
	src.watchers = slices.DeleteFunc(src.watchers, func(have *watcher) bool { return have == x })
	if len(src.watchers) > 0 {
		return
	}
	_ = w.kv.Cancel(src.id) // it exists: only leave removes it
	delete(w.sources, src.id)
	if w.shared[src.keys] == src {
		delete(w.shared, src.keys)
	}
}

// allOrdinary sends r and everything else that mvcc has delivered by now. Responses of one source
// are sent as one.
func (w *watchStream) allOrdinary(r mvcc.WatchResponse) error {
	for n := len(w.kv.Chan()); ; n-- {
		if err := w.take(r); err != nil {
			return err
		}
		if n == 0 {
			return w.flush()
		}
		r = <-w.kv.Chan()
	}
}

// take collects what mvcc delivered: events of one source, the end of a source whose history was
// compacted, or progress. flush must follow.
func (w *watchStream) take(r mvcc.WatchResponse) error {
	mvcc.ReportEventReceived(len(r.Events))
	src := w.sources[r.WatchID]
	switch {
	case r.WatchID == noWatcher:
		if err := w.flush(); err != nil {
			return err
		}
		return w.progressOfAll(r.Revision)
	case src == nil:
		return nil // it was canceled
	case len(r.Events) == 0:
		if err := w.flush(); err != nil {
			return err
		}
		return w.notice(src, r)
	case src.apart && src.events != nil, src.bytes > maxResponseBytes:
		if err := w.flush(); err != nil {
			return err
		}
	}
	if src.events == nil {
		w.collected = append(w.collected, src)
		src.events = slices.Clip(r.Events)
	} else {
		src.events = append(src.events, r.Events...)
	}
	src.revision = r.Revision
	for _, e := range r.Events {
		src.bytes += len(e.Kv.Key) + len(e.Kv.Value)
	}
	return nil
}

// flush sends what take has collected.
func (w *watchStream) flush() error {
	for i, src := range w.collected {
		for _, x := range src.watchers {
			events := x.wanted(src.events)
			if len(events) == 0 {
				continue
			}
			if x.prevKV {
				events = w.withPrevious(events)
			}
			if err := w.sendEvents(x, &pb.WatchResponse{Header: w.header(src.revision), WatchId: x.id, Events: events}); err != nil {
				return err
			}
		}
		src.events, src.bytes, w.collected[i] = nil, 0, nil
	}
	w.collected = w.collected[:0]
	return nil
}

// wanted returns the events from the revision on from which x watches.
func (x *watcher) wanted(events []*mvccpb.Event) []*mvccpb.Event {
	for i, e := range events {
		if e.Kv.ModRevision >= x.from {
			return events[i:]
		}
	}
	return nil
}

// notice handles a response of mvcc without events: the progress of a source, or its end.
func (w *watchStream) notice(src *source, r mvcc.WatchResponse) error {
	if r.CompactRevision != 0 {
		return w.compacted(src, r)
	}
	for _, x := range src.watchers {
		if !x.due || r.Revision < x.from-1 { // asked for before x came
			continue
		}
		x.due = false
		if err := w.stream.Send(&pb.WatchResponse{Header: w.header(r.Revision), WatchId: x.id}); err != nil {
			return err
		}
	}
	return nil
}

// compacted ends the watchers that miss changes which are compacted. Others have joined the source
// while it lagged behind; they go on with sources of their own.
func (w *watchStream) compacted(src *source, r mvcc.WatchResponse) error {
	for _, x := range slices.Clone(src.watchers) {
		if x.from >= r.CompactRevision {
			w.leave(x)
			if err := w.connect(w.stream.Context(), x, src.keys, x.from); err != nil {
				return err
			}
			continue
		}
		w.end(x) // its ID stays in use until the client cancels it, as in etcd
		answer := &pb.WatchResponse{Header: w.header(r.Revision), WatchId: x.id, CompactRevision: r.CompactRevision, Canceled: true}
		if err := w.stream.Send(answer); err != nil {
			return err
		}
	}
	return nil
}
