package semkeys

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/grpc/status"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol/etcd/qkey"
	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
	"fiveways.dev/fiveways/internal/protocol/protocoltest"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// world is a broker with semaphores and their keys, and a caller, for tests.
type world struct {
	t      *testing.T
	b      *broker.Broker
	m      *semaphores.Manager
	n      *Namespace
	who    Caller
	leases *leaseSet
}

// leaseSet is the set of existing leases.
type leaseSet struct {
	mu    sync.Mutex
	there map[int64]bool
}

func (l *leaseSet) exists(id int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.there[id]
}

func (l *leaseSet) set(id int64, there bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.there[id] = there
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return openWorld(t, vfs.NewMem(), &leaseSet{there: map[int64]bool{}})
}

func openWorld(t *testing.T, fs vfs.FS, leases *leaseSet, change ...func(*broker.Options)) *world {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	m := semaphores.New(semaphores.Options{Logger: log})
	b := enginetest.Open(t, fs, func(o *broker.Options) {
		o.StateMachines = protocoltest.Machines(m, nil)
		for _, f := range change {
			f(o)
		}
	})
	must(t, m.Start(b))
	w := &world{t: t, b: b, m: m, leases: leases}
	w.n = New(virtual.NewBase(b, virtual.Options{LeaseExists: leases.exists}), m, log)
	w.who = w.caller("guest")
	t.Cleanup(w.close)
	return w
}

// close ends the world, possibly before the end of the test.
func (w *world) close() {
	if w.b == nil {
		return
	}
	w.n.Close(context.Background())
	w.m.Stop()
	enginetest.Close(w.t, w.b)
	w.b = nil
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
	return Caller{Session: s, User: user}
}

// user creates a user with permissions and returns it as a caller.
func (w *world) user(name, configure, write, read string) Caller {
	w.t.Helper()
	_, err := w.b.PutUser(catalog.UserSpec{Name: name, Password: "secret"})
	must(w.t, err)
	_, err = w.b.SetPermission(catalog.Permission{User: name, VHost: "/", Configure: configure, Write: write, Read: read})
	must(w.t, err)
	return w.caller(name)
}

func (w *world) put(key, value string) {
	w.t.Helper()
	_, err := w.n.Put(context.Background(), w.who, &pb.PutRequest{Key: []byte(key), Value: []byte(value)})
	must(w.t, err)
}

func (w *world) delete(key string) int64 {
	w.t.Helper()
	r, err := w.n.DeleteRange(w.who, &pb.DeleteRangeRequest{Key: []byte(key)})
	must(w.t, err)
	return r.Deleted
}

func prefixEnd(prefix string) []byte { return qkey.PrefixEnd([]byte(prefix)) }

func (w *world) ask(r *pb.RangeRequest) *pb.RangeResponse {
	w.t.Helper()
	resp, err := w.n.Range(w.who, r)
	must(w.t, err)
	return resp
}

// all returns the keys with a prefix, in short form.
func (w *world) all(prefix string) []string {
	w.t.Helper()
	r := w.ask(&pb.RangeRequest{Key: []byte(prefix), RangeEnd: prefixEnd(prefix)})
	if int(r.Count) != len(r.Kvs) || r.More {
		w.t.Errorf("count %d, more %v of %d keys", r.Count, r.More, len(r.Kvs))
	}
	return shorts(r.Kvs)
}

func shorts(kvs []*mvccpb.KeyValue) (all []string) {
	for _, kv := range kvs {
		all = append(all, short(kv))
	}
	return all
}

// short formats a key with the status and the priority of a task, or with the settings of a
// semaphore.
func short(kv *mvccpb.KeyValue) string {
	fields := fieldsOf(kv.Value)
	if fields["task"] != nil {
		return fmt.Sprint(string(kv.Key), "=", fields["status"], " ", fields["priority"])
	}
	return fmt.Sprint(string(kv.Key), "=", fields["active"], "/", fields["try_release"])
}

func same(t *testing.T, got []string, want ...string) {
	t.Helper()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// refused compares an error with the code and the text that clients must get.
func refused(t *testing.T, err error, want string) {
	t.Helper()
	if got := fmt.Sprintf("%v: %s", status.Code(err), status.Convert(err).Message()); !strings.HasPrefix(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
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

func (w *world) watchAs(who Caller, r *pb.WatchCreateRequest) (*watcher, error) {
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

func (w *world) watch(r *pb.WatchCreateRequest) *watcher {
	w.t.Helper()
	x, err := w.watchAs(w.who, r)
	must(w.t, err)
	w.t.Cleanup(x.Close)
	return x
}

func (w *world) watchAll(prefix string) *watcher {
	w.t.Helper()
	return w.watch(&pb.WatchCreateRequest{Key: []byte(prefix), RangeEnd: prefixEnd(prefix)})
}

// events waits for n events.
func (x *watcher) events(n int) (all []*mvccpb.Event) {
	x.t.Helper()
	for len(x.left) < n && x.ended == nil {
		var events []*mvccpb.Event
		events, _, x.ended = x.Take()
		if x.left = append(x.left, events...); len(x.left) < n && x.ended == nil {
			<-x.wake
		}
	}
	if len(x.left) < n {
		x.t.Fatalf("the watch ended (%v) after %d events, not %d", x.ended, len(x.left), n)
	}
	all, x.left = x.left[:n], x.left[n:]
	return all
}

// next waits for n events and formats them.
func (x *watcher) next(n int) (all []string) {
	x.t.Helper()
	for _, e := range x.events(n) {
		text := short(e.Kv)
		switch {
		case e.Type == mvccpb.Event_DELETE:
			text = "-" + string(e.Kv.Key)
		case e.Kv.CreateRevision == e.Kv.ModRevision:
			text = "+" + text
		}
		if e.PrevKv != nil {
			text += " was " + short(e.PrevKv)
		}
		all = append(all, text)
	}
	return all
}

// end waits for the end of the watch.
func (x *watcher) end() error {
	for x.ended == nil {
		if _, _, x.ended = x.Take(); x.ended == nil {
			<-x.wake
		}
	}
	return x.ended
}
