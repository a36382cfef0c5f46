package etcd

import (
	"context"
	"fmt"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

func TestWatchProgress(t *testing.T) {
	b := newWatchBed(t, func(o *watchOptions) { o.progress = minProgressInterval })
	s := b.stream()
	s.create(&pb.WatchCreateRequest{Key: []byte("a")})
	s.create(&pb.WatchCreateRequest{Key: []byte("a"), ProgressNotify: true})
	s.create(&pb.WatchCreateRequest{Key: []byte("/q/a/c/me"), ProgressNotify: true})
	b.put("other", "v")
	seen := map[int64]int64{}
	for len(seen) < 2 {
		r := s.next()
		if len(r.Events) != 0 || r.WatchId == 0 {
			t.Fatalf("response %v", r)
		}
		seen[r.WatchId] = r.Header.Revision
	}
	if seen[1] != 2 || seen[2] != 899 {
		t.Errorf("progress %v", seen)
	}
	b.queues.opened[0].happen("x")
	if e := s.eventsPast(2); e.Kv.ModRevision != 1001 {
		t.Fatalf("event %v", e)
	}
	for {
		if r := s.next(); r.WatchId == 2 {
			if r.Header.Revision != 1001 {
				t.Errorf("progress after an event: %v", r)
			}
			return
		}
	}
}

// TestProgressOnRequest checks that one report covers all watchers only if it holds for all.
func TestProgressOnRequest(t *testing.T) {
	b := newWatchBed(t, nil)
	s := b.stream()
	s.create(&pb.WatchCreateRequest{Key: []byte("a")})
	s.create(&pb.WatchCreateRequest{Key: []byte("a")})
	b.put("other", "v")
	for range 2 {
		s.askProgress()
		if r := s.next(); r.WatchId != noWatcher || r.Header.Revision != 2 {
			t.Errorf("of ordinary keys: %v", r)
		}
	}
	s.create(&pb.WatchCreateRequest{Key: []byte("/q/a/c/me")})
	b.queues.opened[0].happen("x")
	s.events(2, 1)
	s.askProgress()
	got := map[int64]int64{}
	for range 3 {
		r := s.next()
		got[r.WatchId] = r.Header.Revision
	}
	if want := (map[int64]int64{0: 2, 1: 2, 2: 1001}); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("of both kinds: %v, want %v", got, want)
	}
	s.cancelWatch(2)
	s.next()
	s.askProgress()
	if r := s.next(); r.WatchId != noWatcher {
		t.Errorf("without the queue again: %v", r)
	}
}

// TestProgressOfYoungerWatchers checks that a report does not cover watchers that were created
// after the request.
func TestProgressOfYoungerWatchers(t *testing.T) {
	b := newWatchBed(t, nil)
	b.put("a", "v")
	w, stream := b.direct()
	create := func() { watchA(t, w) }
	create()
	if err := w.askProgress(); err != nil {
		t.Fatal(err)
	}
	create()
	stream.sent = nil
	if err := w.allOrdinary(<-w.kv.Chan()); err != nil {
		t.Fatal(err)
	}
	if len(stream.sent) != 1 || stream.sent[0].WatchId != 0 {
		t.Errorf("reports %v, want one of watcher 0 alone", stream.sent)
	}
}

// TestProgressOfFutureWatchers checks that a watcher whose start lies in the future has no report
// before its start, as in etcd since 3.5.22: a client that resumed from the report would get
// changes that it did not ask for. The other watcher's reports show that time has passed.
func TestProgressOfFutureWatchers(t *testing.T) {
	b := newWatchBed(t, func(o *watchOptions) { o.progress = minProgressInterval })
	b.put("a", "1")
	s := b.stream()
	s.create(&pb.WatchCreateRequest{Key: []byte("other"), ProgressNotify: true})
	s.create(&pb.WatchCreateRequest{Key: []byte("a"), StartRevision: 4, ProgressNotify: true})
	s.askProgress()
	for range 2 {
		if r := s.next(); r.WatchId != 0 || r.Header.Revision != 2 {
			t.Fatalf("before the start: %v", r)
		}
	}
	b.put("a", "2")
	b.put("a", "3")
	if e := s.eventsPast(1); e.Kv.ModRevision != 4 {
		t.Fatalf("first event %v", e)
	}
	for {
		if r := s.next(); r.WatchId == 1 {
			if len(r.Events) != 0 || r.Header.Revision != 4 {
				t.Errorf("after the start: %v", r)
			}
			return
		}
	}
}

// sentResponses is a stream that records the sent responses.
type sentResponses struct {
	pb.Watch_WatchServer
	ctx  context.Context
	sent []*pb.WatchResponse
}

func (s *sentResponses) Context() context.Context { return s.ctx }

func (s *sentResponses) Send(r *pb.WatchResponse) error {
	s.sent = append(s.sent, r)
	return nil
}

// TestProgressOfMany checks that all watchers get their reports if there are more than mvcc can
// buffer.
func TestProgressOfMany(t *testing.T) {
	const n = 400
	b := newWatchBed(t, func(o *watchOptions) { o.progress = time.Second })
	s := b.stream()
	for range n {
		s.create(&pb.WatchCreateRequest{Key: []byte("a"), ProgressNotify: true})
	}
	heard := map[int64]bool{}
	for range n {
		heard[s.next().WatchId] = true
	}
	if len(heard) != n {
		t.Errorf("%d of %d watchers had a report in the first round", len(heard), n)
	}
}

// eventsPast waits for an event of a watcher and skips progress notifications.
func (s *testStream) eventsPast(id int64) *mvccpb.Event {
	s.t.Helper()
	for {
		if r := s.next(); r.WatchId == id && len(r.Events) > 0 {
			return r.Events[0]
		}
	}
}

// The interval of progress notifications is configurable: a watch that asked for them gets them
// without an event.
func TestWatchProgressInterval(t *testing.T) {
	c := dial(t, newNode(t, Options{WatchProgress: 20 * time.Millisecond}).addr)
	for r := range c.Watch(t.Context(), "a", clientv3.WithProgressNotify()) {
		if r.IsProgressNotify() {
			return
		}
	}
	t.Error("the watch ended")
}
