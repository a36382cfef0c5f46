package queues

import (
	"bytes"
	"cmp"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/protocol/etcd/qkey"
	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
)

// Watch is a watch of a consumer's keys. It makes its client a consumer. The events that were not
// taken count with what the consumer holds, so they are bounded.
type Watch struct {
	c    *consumer
	base []byte // the consumer's key as the watch spells it

	from            int64 // deliveries before this revision are not told
	puts, deletions bool  // which events are wanted
	prevKV          bool
	ready           func() // there is something to take

	events []*mvccpb.Event // guarded by c.mu, as all below
	bytes  int             // they count for in the session's window
	ended  error
	closed bool
}

// Watch opens a watch of a consumer's key, or of all keys that begin with it. ready is called from
// any goroutine when there may be something to take, also before Watch returns; it must not block
// or call back. No event has a revision below since.
//
// A watch of the key alone tells of the deliveries below it and not of their ends. One of a range
// tells of these too, as etcd does.
func (n *Namespace) Watch(who Caller, r *pb.WatchCreateRequest, ready func()) (_ virtual.Watcher, since int64, err error) {
	path, reach := qkey.ConsumerOf(r.Key, r.RangeEnd)
	if reach == qkey.Elsewhere || reach == qkey.Some {
		return nil, 0, errWatchOther
	}
	w := &Watch{
		base: bytes.Clone(path.Base), from: r.StartRevision, puts: !slices.Contains(r.Filters, pb.WatchCreateRequest_NOPUT), prevKV: r.PrevKv, ready: ready,
		deletions: len(r.RangeEnd) > 0 && !slices.Contains(r.Filters, pb.WatchCreateRequest_NODELETE),
	}
	held := false
	_, err = n.join(who, string(path.Queue), string(path.Client), func(c *consumer) {
		w.c = c
		since = w.catchUp()
		held = len(w.events) > 0
		c.watches = append(slices.Clone(c.watches), w)
	})
	if err != nil {
		return nil, 0, err
	}
	if held {
		ready()
	}
	return w, since, nil
}

// catchUp tells what the consumer holds already, and from which revision on. c.mu is held.
func (w *Watch) catchUp() (since int64) {
	c := w.c
	all := make([]hold, 0, len(c.held))
	for handle, h := range c.held {
		if h.revision >= w.from {
			all = append(all, hold{handle, h})
		}
	}
	since = c.n.Clock.Next()
	if len(all) == 0 || !w.puts {
		return since
	}
	slices.SortFunc(all, func(a, b hold) int { return cmp.Compare(a.revision, b.revision) })
	for i := range all {
		w.add(&mvccpb.Event{Kv: all[i].kv(w.base)}, weight(all[i].env))
	}
	c.session.Window().Add(w.bytes)
	return all[0].revision
}

// kv is the key of a delivery, below a consumer's own.
func (h *hold) kv(base []byte) *mvccpb.KeyValue {
	return h.kvAt(h.appendKey(bytes.Clone(base), h.handle))
}

// kvAt is a delivery with the key that it is asked for by.
func (h *held) kvAt(key []byte) *mvccpb.KeyValue {
	return &mvccpb.KeyValue{
		Key: key, Value: h.env.Body(), CreateRevision: h.revision, ModRevision: h.revision, Version: 1,
	}
}

// add gathers an event. c.mu is held.
func (w *Watch) add(e *mvccpb.Event, weight int) {
	w.events = append(w.events, e)
	w.bytes += weight
}

// event is a place for an event and its key.
type event struct {
	event mvccpb.Event
	kv    mvccpb.KeyValue
}

// addDeliveries tells of deliveries that have just come, and returns what that adds to the window.
// c.mu is held.
func (w *Watch) addDeliveries(ds []shard.Delivery) (added int) {
	if !w.puts {
		return 0
	}
	places, keys := make([]event, len(ds)), make([]byte, 0, len(ds)*(len(w.base)+64))
	for i := range ds {
		h := w.c.held[ds[i].Handle]
		if h.revision < w.from {
			continue
		}
		from := len(keys)
		keys = h.appendKey(append(keys, w.base...), ds[i].Handle)
		p := &places[i]
		p.kv.Key, p.kv.Value = keys[from:len(keys):len(keys)], h.env.Body()
		p.kv.CreateRevision, p.kv.ModRevision, p.kv.Version = h.revision, h.revision, 1
		p.event.Kv = &p.kv
		w.add(&p.event, weight(h.env))
		added += weight(h.env)
	}
	return added
}

// addDeletions tells that keys of deliveries are gone, and returns what that adds to the window.
// c.mu is held.
func (w *Watch) addDeletions(all []hold) (added int) {
	if !w.deletions {
		return 0
	}
	for i := range all {
		h := &all[i]
		e := &mvccpb.Event{Type: mvccpb.Event_DELETE, Kv: &mvccpb.KeyValue{
			Key: h.appendKey(bytes.Clone(w.base), h.handle), ModRevision: w.c.n.Clock.Next(),
		}}
		n := weight(nil)
		if w.prevKV {
			e.PrevKv = h.kv(w.base)
			n = weight(h.env)
		}
		w.add(e, n)
		added += n
	}
	return added
}

// Take returns the events since it was last called, each with its revision, which never falls, and
// that of the last. An error, with the last of them, says that the watch is over and why. One
// goroutine calls it.
func (w *Watch) Take() (events []*mvccpb.Event, revision int64, err error) {
	w.c.mu.Lock()
	events, err = w.events, w.ended
	n := w.bytes
	w.events, w.bytes = nil, 0
	w.c.mu.Unlock()
	w.c.session.Window().Done(n)
	if len(events) > 0 {
		revision = events[len(events)-1].Kv.ModRevision
	}
	return events, revision, err
}

// Close ends the watch. The consumer leaves when this was the last one and no lease keeps it; Close
// returns when it has.
func (w *Watch) Close() {
	c := w.c
	w.Take()
	c.mu.Lock()
	c.watches = slices.DeleteFunc(slices.Clone(c.watches), func(have *Watch) bool { return have == w })
	last := !w.closed && !c.leaving && len(c.watches) == 0 && c.lease == 0
	w.closed = true
	c.mu.Unlock()
	if last {
		c.leave(errLeft)
	}
}

// name is the key of the consumer in its short spelling.
func (c *consumer) name() []byte {
	return qkey.AppendName(append(qkey.AppendName([]byte("/q/"), c.queue), "/c/"...), c.client)
}

// handleOf is the place in the queue that an index names.
func handleOf(index uint64) queue.Handle { return queue.Handle(index) }
