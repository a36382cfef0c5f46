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

// Watch is a watch of a consumer's keys. It makes its client a consumer. Events that were not taken
// yet count together with the consumer's deliveries, so their number is bounded.
type Watch struct {
	c    *consumer
	base []byte // the consumer's key as spelled in the watch

	from            int64 // deliveries before this revision are not reported
	puts, deletions bool  // the wanted kinds of events
	prevKV          bool
	ready           func() // called when there is something to take

	events []*mvccpb.Event // guarded by c.mu, as are the fields below
	bytes  int             // weight of events in the session's window
	ended  error
	closed bool
}

// Watch opens a watch of a consumer's key, or of all keys that begin with it. ready is called from
// any goroutine when there may be something to take, possibly before Watch returns. It must not
// block or call back. No event has a revision below since.
//
// A watch of the key alone reports the deliveries below it but not their ends. A watch of a range
// reports both, as in etcd.
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
		if n.Clock.Reach(w.from) {
			w.from = 0 // it does not tell what the client has seen of this node
		}
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

// catchUp adds events for the deliveries that the consumer already holds, and returns the revision
// of the first event. The caller holds c.mu.
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

// kv returns the key-value pair of a delivery, below a consumer's key.
func (h *hold) kv(base []byte) *mvccpb.KeyValue {
	return h.kvAt(h.appendKey(bytes.Clone(base), h.handle))
}

// kvAt returns the key-value pair of a delivery with the given spelling of its key.
func (h *held) kvAt(key []byte) *mvccpb.KeyValue {
	return &mvccpb.KeyValue{
		Key: key, Value: h.env.Body(), CreateRevision: h.revision, ModRevision: h.revision, Version: 1,
	}
}

// add adds an event. The caller holds c.mu.
func (w *Watch) add(e *mvccpb.Event, weight int) {
	w.events = append(w.events, e)
	w.bytes += weight
}

// event holds an event with its key-value pair, to allocate both at once.
type event struct {
	event mvccpb.Event
	kv    mvccpb.KeyValue
}

// addDeliveries adds events for new deliveries, and returns their weight in the window. The caller
// holds c.mu.
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

// addDeletions adds events for deleted deliveries, and returns their weight in the window. The
// caller holds c.mu.
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

// Take returns the events since the last call, with ascending revisions, and the revision of the
// last one. An error, returned with the last events, means that the watch has ended and why. Only
// one goroutine may call it.
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

// Close ends the watch. If it was the last one and no lease keeps the consumer, the consumer leaves
// before Close returns.
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

// name returns the key of the consumer in its short spelling.
func (c *consumer) name() []byte {
	return qkey.AppendName(append(qkey.AppendName([]byte("/q/"), c.queue), "/c/"...), c.client)
}

// handleOf returns the position in the queue that an index names.
func handleOf(index uint64) queue.Handle { return queue.Handle(index) }
