package queues

import (
	"context"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/etcd/qkey"
	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// world is a broker with a namespace, and a caller, for tests.
type world struct {
	t   *testing.T
	b   *broker.Broker
	n   *Namespace
	who Caller
}

// settings are what a test can change of a world.
type settings struct {
	Options
	base virtual.Options
}

func newWorld(t *testing.T, change func(*settings)) *world {
	t.Helper()
	return newWorldOn(t, vfs.NewMem(), change)
}

func newWorldOn(t *testing.T, fs vfs.FS, change func(*settings)) *world {
	t.Helper()
	b := enginetest.Open(t, fs, nil)
	o := settings{Options: Options{Node: "n1"}}
	if change != nil {
		change(&o)
	}
	w := &world{t: t, b: b, n: New(virtual.NewBase(b, o.base), o.Options)}
	w.who = w.caller("guest")
	t.Cleanup(func() {
		w.n.Close(context.Background())
		enginetest.Close(t, b)
	})
	return w
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) caller(user string) Caller {
	w.t.Helper()
	s, err := w.b.NewSession(broker.SessionOptions{User: user, VHost: "/"})
	must(w.t, err)
	w.t.Cleanup(s.Close)
	return Caller{Session: s, User: user}
}

func (w *world) batcher(who Caller) *Batcher {
	w.t.Helper()
	d, err := w.n.NewBatcher(who)
	must(w.t, err)
	return d
}

func (w *world) put(key, value string) {
	w.t.Helper()
	_, err := w.n.Put(context.Background(), w.who, &pb.PutRequest{Key: []byte(key), Value: []byte(value)})
	must(w.t, err)
}

// get reads a key, or a range if end is given.
func (w *world) get(key, end string) (all []string) {
	w.t.Helper()
	r, err := w.n.Range(w.who, &pb.RangeRequest{Key: []byte(key), RangeEnd: []byte(end)})
	must(w.t, err)
	if int(r.Count) != len(r.Kvs) || r.More {
		w.t.Fatalf("count %d, more %v of %d keys", r.Count, r.More, len(r.Kvs))
	}
	return texts(r.Kvs)
}

// all reads all keys with a prefix.
func (w *world) all(prefix string) []string {
	w.t.Helper()
	return w.get(prefix, string(qkey.PrefixEnd([]byte(prefix))))
}

func texts(kvs []*mvccpb.KeyValue) (all []string) {
	for _, kv := range kvs {
		all = append(all, string(kv.Key)+"="+string(kv.Value))
	}
	return all
}

func (w *world) delete(key string) int64 {
	w.t.Helper()
	r, err := w.n.DeleteRange(w.who, &pb.DeleteRangeRequest{Key: []byte(key)})
	must(w.t, err)
	return r.Deleted
}

func (w *world) deleteAll(prefix string) int64 {
	w.t.Helper()
	r, err := w.n.DeleteRange(w.who, &pb.DeleteRangeRequest{Key: []byte(prefix), RangeEnd: qkey.PrefixEnd([]byte(prefix))})
	must(w.t, err)
	return r.Deleted
}

// watcher is a watch that a test reads.
type watcher struct {
	t *testing.T
	virtual.Watcher
	since int64
	wake  chan struct{}
	left  []*mvccpb.Event
	ended error
}

func (w *world) watchWith(who Caller, r *pb.WatchCreateRequest) (*watcher, error) {
	x := &watcher{t: w.t, wake: make(chan struct{}, 1)}
	var err error
	x.Watcher, x.since, err = w.n.Watch(who, r, func() {
		select {
		case x.wake <- struct{}{}:
		default:
		}
	})
	return x, err
}

// watch watches a single key.
func (w *world) watch(key string) *watcher {
	w.t.Helper()
	x, err := w.watchWith(w.who, &pb.WatchCreateRequest{Key: []byte(key)})
	must(w.t, err)
	return x
}

// watchAll watches the keys with a prefix.
func (w *world) watchAll(prefix string) *watcher {
	w.t.Helper()
	x, err := w.watchWith(w.who, &pb.WatchCreateRequest{Key: []byte(prefix), RangeEnd: qkey.PrefixEnd([]byte(prefix))})
	must(w.t, err)
	return x
}

// events waits for n events.
func (x *watcher) events(n int) (all []*mvccpb.Event) {
	x.t.Helper()
	for len(x.left) < n && x.ended == nil {
		events, _, err := x.Take()
		x.left, x.ended = append(x.left, events...), err
		if len(x.left) < n && err == nil {
			<-x.wake
		}
	}
	if len(x.left) < n {
		x.t.Fatalf("the watch ended (%v) after %d events, not %d", x.ended, len(x.left), n)
	}
	all = x.left[:n]
	x.left = x.left[n:]
	return all
}

// next waits for n events and formats them.
func (x *watcher) next(n int) (all []string) {
	x.t.Helper()
	for _, e := range x.events(n) {
		text := string(e.Kv.Key) + "=" + string(e.Kv.Value)
		if e.Type == mvccpb.Event_DELETE {
			text = "-" + string(e.Kv.Key)
		}
		all = append(all, text)
	}
	return all
}

// end waits for the end of the watch.
func (x *watcher) end() error {
	for x.ended == nil {
		var events []*mvccpb.Event
		if events, _, x.ended = x.Take(); x.ended == nil {
			<-x.wake
		}
		x.left = append(x.left, events...)
	}
	return x.ended
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}

func wantCode(t *testing.T, err error, want codes.Code) {
	t.Helper()
	if got := status.Code(err); got != want {
		t.Fatalf("got %v (%v), want %v", got, err, want)
	}
}

// i returns an index in the form used in keys.
func i(n uint64) string { return string(qkey.AppendIndex(nil, n)) }

func properties(t *testing.T, env message.Envelope) message.Properties {
	t.Helper()
	p, err := message.DecodeProperties(env.Properties())
	must(t, err)
	return p
}
