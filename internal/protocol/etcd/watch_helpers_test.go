package etcd

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/pkg/v3/traceutil"
	"go.etcd.io/etcd/server/v3/lease"
	"go.etcd.io/etcd/server/v3/storage/backend"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"go.uber.org/zap"

	"fiveways.dev/fiveways/internal/protocol/etcd/inproc"
	"fiveways.dev/fiveways/internal/protocol/etcd/qkey"
	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
)

const patience = 20 * time.Second

// watchBed is the watch service alone, on a store of etcd's own.
type watchBed struct {
	t      testing.TB
	keys   mvcc.WatchableKV
	queues *fakeQueues
	client pb.WatchClient
	drain  context.CancelFunc

	options watchOptions
}

func newWatchBed(t testing.TB, change func(*watchOptions)) *watchBed {
	t.Helper()
	cfg := backend.DefaultBackendConfig(zap.NewNop())
	cfg.Path = filepath.Join(t.TempDir(), "db")
	cfg.UnsafeNoFsync = true
	be := backend.New(cfg)
	keys := mvcc.New(zap.NewNop(), be, &lease.FakeLessor{}, mvcc.StoreConfig{})
	t.Cleanup(func() { keys.Close(); be.Close() })
	over, drain := context.WithCancel(context.Background())
	t.Cleanup(drain)
	b := &watchBed{t: t, keys: keys, queues: &fakeQueues{clock: 1000}, drain: drain}
	o := watchOptions{
		keys: func() mvcc.WatchableKV { return keys }, virtual: b.queues, maxBytes: 1 << 20, over: over,
		header: func(revision int64) *pb.ResponseHeader { return &pb.ResponseHeader{Revision: revision} },
		permit: func(context.Context, *pb.WatchCreateRequest) (*identity, error) { return &identity{}, nil },
	}
	if change != nil {
		change(&o)
	}
	b.options = o
	conn := inproc.New(nil, nil)
	pb.RegisterWatchServer(conn, newWatchService(o))
	b.client = pb.NewWatchClient(conn)
	return b
}

// direct returns a stream without a client and what it sends.
func (b *watchBed) direct() (*watchStream, *sentResponses) {
	stream := &sentResponses{ctx: b.t.Context()}
	w := newWatchStream(newWatchService(b.options), stream)
	b.t.Cleanup(w.close)
	return w, stream
}

// watchA creates a watcher of the key a.
func watchA(t testing.TB, w *watchStream) {
	t.Helper()
	if err := w.create(t.Context(), &pb.WatchCreateRequest{Key: []byte("a")}); err != nil {
		t.Fatal(err)
	}
}

func (b *watchBed) put(key, value string) int64 {
	return b.keys.Put([]byte(key), []byte(value), lease.NoLease)
}

func (b *watchBed) remove(key string) int64 {
	_, revision := b.keys.DeleteRange([]byte(key), nil)
	return revision
}

func (b *watchBed) compact(revision int64) {
	b.t.Helper()
	done, err := b.keys.Compact(traceutil.TODO(), revision)
	if err != nil {
		b.t.Fatal(err)
	}
	<-done
}

// testStream is the client's side of a stream.
type testStream struct {
	t      testing.TB
	stream pb.Watch_WatchClient
	got    chan *pb.WatchResponse
	ended  chan error
	cancel context.CancelFunc
}

func (b *watchBed) stream() *testStream {
	b.t.Helper()
	s := b.unread()
	go s.read()
	return s
}

// unread opens a stream that is never read.
func (b *watchBed) unread() *testStream {
	b.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	b.t.Cleanup(cancel)
	stream, err := b.client.Watch(ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	return &testStream{t: b.t, stream: stream, got: make(chan *pb.WatchResponse), ended: make(chan error, 1), cancel: cancel}
}

func (s *testStream) read() {
	for {
		r, err := s.stream.Recv()
		if err != nil {
			s.ended <- err
			return
		}
		select {
		case s.got <- r:
		case <-s.stream.Context().Done():
			s.ended <- s.stream.Context().Err()
			return
		}
	}
}

func (s *testStream) send(r *pb.WatchRequest) {
	s.t.Helper()
	if err := s.stream.Send(r); err != nil {
		s.t.Fatal(err)
	}
}

func (s *testStream) next() *pb.WatchResponse {
	s.t.Helper()
	select {
	case r := <-s.got:
		return r
	case err := <-s.ended:
		s.t.Fatalf("the stream ended: %v", err)
	case <-time.After(patience):
		s.t.Fatal("no response")
	}
	return nil
}

// events waits for a response with events of a watcher.
func (s *testStream) events(id int64, n int) []*mvccpb.Event {
	s.t.Helper()
	var all []*mvccpb.Event
	for len(all) < n {
		r := s.next()
		if r.WatchId != id || r.Canceled || len(r.Events) == 0 {
			s.t.Fatalf("response %v, want events of watcher %d", r, id)
		}
		all = append(all, r.Events...)
	}
	return all
}

func (s *testStream) create(r *pb.WatchCreateRequest) *pb.WatchResponse {
	s.t.Helper()
	s.send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: r}})
	answer := s.next()
	if !answer.Created {
		s.t.Fatalf("response %v, want created", answer)
	}
	return answer
}

func (s *testStream) cancelWatch(id int64) {
	s.t.Helper()
	s.send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CancelRequest{CancelRequest: &pb.WatchCancelRequest{WatchId: id}}})
}

func (s *testStream) askProgress() {
	s.t.Helper()
	s.send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_ProgressRequest{ProgressRequest: &pb.WatchProgressRequest{}}})
}

// fakeQueues simulates queues whose events the test controls.
type fakeQueues struct {
	mu     sync.Mutex
	clock  int64
	opened []*fakeWatcher
}

var errFakeRefusal = errors.New("no such luck")

func (q *fakeQueues) holds(key []byte) bool { return qkey.Holds(key) }

func (q *fakeQueues) Revision() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.clock
}

func (q *fakeQueues) Watch(_ context.Context, _ *identity, r *pb.WatchCreateRequest, ready func()) (virtual.Watcher, int64, error) {
	if string(r.Key) == "/q/refused" {
		return nil, 0, errFakeRefusal
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	w := &fakeWatcher{queues: q, ready: ready, closed: make(chan struct{})}
	q.opened = append(q.opened, w)
	return w, q.clock - 100, nil
}

type fakeWatcher struct {
	queues *fakeQueues
	ready  func()
	events []*mvccpb.Event
	ended  error
	closed chan struct{}
}

// happen adds events, all of which are ready at once.
func (w *fakeWatcher) happen(values ...string) {
	w.queues.mu.Lock()
	for _, v := range values {
		w.queues.clock++
		kv := &mvccpb.KeyValue{Key: []byte("/q/a/c/me/1/k"), Value: []byte(v), ModRevision: w.queues.clock, CreateRevision: w.queues.clock, Version: 1}
		w.events = append(w.events, &mvccpb.Event{Kv: kv})
	}
	w.queues.mu.Unlock()
	w.ready()
}

func (w *fakeWatcher) finish(err error) {
	w.queues.mu.Lock()
	w.ended = err
	w.queues.mu.Unlock()
	w.ready()
}

func (w *fakeWatcher) Take() ([]*mvccpb.Event, int64, error) {
	w.queues.mu.Lock()
	defer w.queues.mu.Unlock()
	events, last := w.events, int64(0)
	if len(events) > 0 {
		last = events[len(events)-1].Kv.ModRevision
	}
	w.events = nil
	return events, last, w.ended
}

func (w *fakeWatcher) Close() { close(w.closed) }
