package etcd

import (
	"context"
	"errors"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"google.golang.org/protobuf/proto"

	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
)

// maxResponseBytes is the size at which a response is full to which more events could be added; the
// rest goes into the next one. Each event of virtual keys has a revision of its own, so a response
// may end after any of them. One of ordinary keys ends where a response of mvcc does.
const maxResponseBytes = 1 << 20

// withPrevious adds the previous value of the key to each event, unless it is compacted. Other
// watchers share the events, so they are copied.
func (w *watchStream) withPrevious(events []*mvccpb.Event) []*mvccpb.Event {
	out := make([]*mvccpb.Event, len(events))
	for i, e := range events {
		out[i] = e
		if isCreation(e) {
			continue
		}
		before, err := w.keys().Range(context.Background(), e.Kv.Key, nil, mvcc.RangeOptions{Rev: e.Kv.ModRevision - 1})
		if err == nil && len(before.KVs) != 0 {
			out[i] = &mvccpb.Event{Type: e.Type, Kv: e.Kv, PrevKv: before.KVs[0]}
		}
	}
	return out
}

// virtualEvents sends the collected events of the watchers of virtual keys.
func (w *watchStream) virtualEvents() error {
	for _, x := range w.waiting.all() {
		if x.virtual == nil {
			continue // it was canceled
		}
		if err := w.takeFrom(x); err != nil {
			return err
		}
	}
	return nil
}

// takeFrom sends all events of one watcher of virtual keys, and its cancellation if it has ended.
func (w *watchStream) takeFrom(x *watcher) error {
	events, revision, ended := x.virtual.Take()
	for len(events) > 0 {
		n := fitting(events)
		x.seen = events[n-1].Kv.ModRevision
		if err := w.sendEvents(x, &pb.WatchResponse{Header: w.header(x.seen), WatchId: x.id, Events: events[:n]}); err != nil {
			return err
		}
		events = events[n:]
	}
	x.seen = max(x.seen, revision)
	if ended == nil {
		return nil
	}
	w.end(x)
	delete(w.watchers, x.id)
	answer := &pb.WatchResponse{Header: w.header(w.virtual.Revision()), WatchId: x.id, Canceled: true}
	var lost *virtual.Compacted
	if errors.As(ended, &lost) {
		answer.CompactRevision = lost.Revision
	} else {
		answer.CancelReason = ended.Error()
	}
	return w.stream.Send(answer)
}

// fitting returns how many of the events go into one response: at least one.
func fitting(events []*mvccpb.Event) int {
	bytes := 0
	for i, e := range events {
		bytes += len(e.Kv.Key) + len(e.Kv.Value)
		if e.PrevKv != nil {
			bytes += len(e.PrevKv.Key) + len(e.PrevKv.Value)
		}
		if bytes > maxResponseBytes && i > 0 {
			return i
		}
	}
	return len(events)
}

// sendEvents sends a response, in fragments if it is too large and the watcher allows them.
func (w *watchStream) sendEvents(x *watcher, r *pb.WatchResponse) error {
	if len(r.Events) > 0 {
		x.quiet, x.due = false, false
	}
	if !x.fragment || len(r.Events) < 2 || proto.Size(r) < w.maxBytes {
		return w.stream.Send(r)
	}
	return sendFragments(r, w.maxBytes, w.stream.Send)
}

// sendFragments splits the events of a response over several that are smaller than maxBytes if
// possible. All but the last are marked as fragments.
func sendFragments(r *pb.WatchResponse, maxBytes int, send func(*pb.WatchResponse) error) error {
	for events := r.Events; ; {
		part := &pb.WatchResponse{
			Header: r.Header, WatchId: r.WatchId, Created: r.Created, Canceled: r.Canceled,
			CompactRevision: r.CompactRevision, CancelReason: r.CancelReason, Fragment: true,
		}
		n, size := 0, proto.Size(part)
		for n < len(events) {
			size += sizeInResponse(events[n])
			if n > 0 && size >= maxBytes {
				break
			}
			n++
		}
		part.Events, events = events[:n], events[n:]
		part.Fragment = len(events) > 0
		if err := send(part); err != nil || !part.Fragment {
			return err
		}
	}
}

// sizeInResponse returns by how many bytes an event enlarges a response.
func sizeInResponse(e *mvccpb.Event) int {
	return proto.Size(&pb.WatchResponse{Events: []*mvccpb.Event{e}})
}
