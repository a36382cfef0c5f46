package semkeys

import (
	"bytes"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"

	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
	"fiveways.dev/fiveways/internal/semaphores/semjson"
)

// maxPending is by how many events a watch may be behind.
const maxPending = 1 << 16

// Watch is a watch of semaphore keys. It implements virtual.Watcher.
type Watch struct {
	f               *feed
	who             Caller
	span            span
	many            bool  // watches a range
	path            path  // of the key; for a range within one semaphore only the semaphore
	from            int64 // earlier events are not reported
	puts, deletions bool  // the wanted kinds of events
	prevKV          bool
	ready           func() // called when there is something to take after there was nothing

	pending []*happening // guarded by f.mu, as are the fields below
	ended   error
	buf     []byte
}

// Watch opens a watch of a key or a range: a task, a semaphore, all tasks of a semaphore, or
// anything else. A range over several semaphores leaves out events of those that the caller may not
// read. ready is called from any goroutine when there may be something to take, possibly before
// Watch returns. It must not block or call back. No event has a revision below since.
//
// Without a start revision the watch reports future events. With one it also reports the past
// events since that revision, if they are kept; otherwise it ends at once with *virtual.Compacted.
func (n *Namespace) Watch(who Caller, r *pb.WatchCreateRequest, ready func()) (_ virtual.Watcher, since int64, err error) {
	w := &Watch{
		f: &n.feed, who: who, span: newSpan(bytes.Clone(r.Key), bytes.Clone(r.RangeEnd)), many: len(r.RangeEnd) > 0, from: r.StartRevision,
		puts: !slices.Contains(r.Filters, pb.WatchCreateRequest_NOPUT), deletions: !slices.Contains(r.Filters, pb.WatchCreateRequest_NODELETE),
		prevKV: r.PrevKv, ready: ready,
	}
	ok := true
	switch {
	case !w.many:
		if w.path, ok = parse(r.Key); !ok {
			return nil, 0, errKey
		}
	default:
		w.path.semaphore = w.span.of
	}
	if w.path.semaphore != "" {
		err = may(who, toRead, w.path.semaphore)
	}
	if err == nil {
		err = n.feed.open()
	}
	if err != nil {
		return nil, 0, toStatus(err)
	}
	return w, n.feed.enter(w), nil
}

// concerns reports whether the watch includes the key of an event. The caller holds f.mu.
func (w *Watch) concerns(h *happening) bool {
	switch {
	case !w.many:
		return w.path == h.path()
	case w.span.of != "" && h.Key != w.span.of:
		return false
	}
	w.buf = h.path().appendKey(w.buf[:0])
	return w.span.has(w.buf)
}

// add adds an event if the watch wants it. The caller holds f.mu.
func (w *Watch) add(h *happening) {
	wanted := w.puts
	if h.Gone {
		wanted = w.deletions
	}
	if !wanted || w.ended != nil || h.revision < w.from || !w.concerns(h) {
		return
	}
	if len(w.pending) == maxPending {
		w.pending = nil
		w.end(&virtual.Compacted{Revision: h.revision})
		return
	}
	w.pending = append(w.pending, h)
	if len(w.pending) == 1 {
		w.ready()
	}
}

// end ends the watch, after the pending events. The caller holds f.mu.
func (w *Watch) end(reason error) {
	w.ended = reason
	w.ready()
}

// Take implements virtual.Watcher.
func (w *Watch) Take() (events []*mvccpb.Event, revision int64, ended error) {
	w.f.mu.Lock()
	pending := w.pending
	w.pending = nil
	revision, ended = w.f.last, w.ended
	w.f.mu.Unlock()
	events = make([]*mvccpb.Event, 0, len(pending))
	seen := visible{who: w.who, all: w.path.semaphore != ""}
	for _, h := range pending {
		if seen.semaphore(h.Key) {
			events = append(events, w.event(h))
		}
	}
	return events, revision, ended
}

// Close implements virtual.Watcher.
func (w *Watch) Close() { w.f.leave(w) }

// visible caches which semaphores a caller may read.
type visible struct {
	who  Caller
	all  bool // the permission was checked when the watch began
	last string
	ok   bool
}

func (v *visible) semaphore(key string) bool {
	if v.all {
		return true
	}
	if v.last != key {
		v.last, v.ok = key, may(v.who, toRead, key) == nil
	}
	return v.ok
}

// event converts an event to one of etcd.
func (w *Watch) event(h *happening) *mvccpb.Event {
	key := h.path().appendKey(nil)
	if h.Task.ID == "" {
		return semaphoreEvent(key, h)
	}
	e := &mvccpb.Event{}
	if h.Gone {
		e.Type, e.Kv = mvccpb.Event_DELETE, &mvccpb.KeyValue{Key: key, ModRevision: h.revision}
	} else {
		e.Kv = taskKV(key, alone(h.Task))
		e.Kv.ModRevision = h.revision
		if h.Was.ID == "" {
			e.Kv.CreateRevision = h.revision // tells clients that the key is new
		}
	}
	if w.prevKV && h.Was.ID != "" {
		e.PrevKv = taskKV(key, alone(h.Was))
	}
	return e
}

// semaphoreEvent returns the event of a semaphore's own key.
func semaphoreEvent(key []byte, h *happening) *mvccpb.Event {
	if h.Gone {
		return &mvccpb.Event{Type: mvccpb.Event_DELETE, Kv: &mvccpb.KeyValue{Key: key, ModRevision: h.revision}}
	}
	kv := &mvccpb.KeyValue{Key: key, ModRevision: h.revision, Version: version}
	if h.Info != nil {
		kv.Value, kv.CreateRevision = encode(semjson.OfInfo(virtual.VHost, h.Info)), h.Info.Created*1000
	}
	return &mvccpb.Event{Kv: kv}
}
