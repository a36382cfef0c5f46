package etcd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/pkg/v3/traceutil"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

func TestWatcherIDs(t *testing.T) {
	b := newWatchBed(t, nil)
	s := b.stream()
	for _, step := range []struct {
		name   string
		cancel int64 // revision to cancel before; 0: none
		r      *pb.WatchCreateRequest
		want   int64
		reason string
	}{
		{"the first", 0, &pb.WatchCreateRequest{Key: []byte("a")}, 0, ""},
		{"the next", 0, &pb.WatchCreateRequest{Key: []byte("/q/a/c/me")}, 1, ""},
		{"chosen", 0, &pb.WatchCreateRequest{Key: []byte("a"), WatchId: 3}, 3, ""},
		{"chosen twice", 0, &pb.WatchCreateRequest{Key: []byte("b"), WatchId: 3}, -1, "mvcc: duplicate watch ID provided on the WatchStream"},
		{"chosen twice over kinds", 0, &pb.WatchCreateRequest{Key: []byte("/q/b/c/me"), WatchId: 3}, -1, "mvcc: duplicate watch ID provided on the WatchStream"},
		{"not the chosen one's neighbour", 0, &pb.WatchCreateRequest{Key: []byte("a")}, 2, ""},
		{"over the chosen one", 0, &pb.WatchCreateRequest{Key: []byte("a")}, 4, ""},
		{"a canceled one can be chosen again", 3, &pb.WatchCreateRequest{Key: []byte("a"), WatchId: 3}, 3, ""},
		{"but is not given", 2, &pb.WatchCreateRequest{Key: []byte("a")}, 5, ""},
		{"an empty range", 0, &pb.WatchCreateRequest{Key: []byte("b"), RangeEnd: []byte("a")}, -1, "mvcc: watcher range is empty"},
		{"before the beginning", 0, &pb.WatchCreateRequest{Key: []byte("a"), StartRevision: -1}, -1, rpctypes.ErrCompacted.Error()},
		{"a queue that says no", 0, &pb.WatchCreateRequest{Key: []byte("/q/refused")}, -1, errFakeRefusal.Error()},
	} {
		if step.cancel != 0 {
			s.cancelWatch(step.cancel)
			if r := s.next(); r.WatchId != step.cancel || !r.Canceled || r.CancelReason != "" {
				t.Fatalf("%s: canceling said %v", step.name, r)
			}
		}
		r := s.create(step.r)
		if r.WatchId != step.want || r.Canceled != (step.reason != "") || r.CancelReason != step.reason {
			t.Errorf("%s: %v", step.name, r)
		}
	}
	s.cancelWatch(77) // unknown: no answer
	s.askProgress()
	if r := s.next(); r.WatchId != noWatcher && r.WatchId != 1 {
		t.Errorf("canceling nobody said %v", r)
	}
}

func TestWatchRanges(t *testing.T) {
	for _, test := range []struct{ name, key, end, want string }{
		{"one key", "b", "", "b"},
		{"a range", "a1", "b", "a1 a2"},
		{"from a key on", "b", "\x00", "b c"},
		{"everything", "", "\x00", "a a1 a2 b c"},
		{"the smallest key only", "", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := newWatchBed(t, nil)
			for _, k := range []string{"a", "a1", "a2", "b", "c"} {
				b.put(k, "v")
			}
			s := b.stream()
			s.create(&pb.WatchCreateRequest{Key: []byte(test.key), RangeEnd: []byte(test.end), StartRevision: 1})
			want := strings.Fields(test.want)
			var got []string
			for _, e := range s.events(0, len(want)) {
				got = append(got, string(e.Kv.Key))
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("events of %q, want %q", got, want)
			}
		})
	}
}

func TestWatchFiltersAndPrevious(t *testing.T) {
	b := newWatchBed(t, nil)
	s := b.stream()
	s.create(&pb.WatchCreateRequest{Key: []byte("a"), PrevKv: true})
	s.create(&pb.WatchCreateRequest{Key: []byte("a"), Filters: []pb.WatchCreateRequest_FilterType{pb.WatchCreateRequest_NOPUT}})
	s.create(&pb.WatchCreateRequest{Key: []byte("a"), Filters: []pb.WatchCreateRequest_FilterType{pb.WatchCreateRequest_NODELETE}})
	b.put("a", "1")
	b.put("a", "2")
	b.remove("a")
	byID := map[int64][]string{}
	for left := 3 + 1 + 2; left > 0; {
		r := s.next()
		left -= len(r.Events)
		for _, e := range r.Events {
			byID[r.WatchId] = append(byID[r.WatchId], fmt.Sprintf("%s %s<%s", e.Type, e.Kv.Value, e.GetPrevKv().GetValue()))
		}
	}
	want := map[int64][]string{0: {"PUT 1<", "PUT 2<1", "DELETE <2"}, 1: {"DELETE <"}, 2: {"PUT 1<", "PUT 2<"}}
	if fmt.Sprint(byID) != fmt.Sprint(want) {
		t.Errorf("events %v\nwant   %v", byID, want)
	}
}

func TestWatchOfCompactedHistory(t *testing.T) {
	b := newWatchBed(t, nil)
	for i := range 10 {
		b.put("a", fmt.Sprint(i))
	}
	b.compact(6)
	s := b.stream()
	s.create(&pb.WatchCreateRequest{Key: []byte("a"), StartRevision: 3})
	if r := s.next(); r.CompactRevision != 6 || !r.Canceled || r.WatchId != 0 || len(r.Events) != 0 || r.Header.Revision != 0 {
		t.Fatalf("a watch into what is compacted: %v", r)
	}
	s.create(&pb.WatchCreateRequest{Key: []byte("a"), StartRevision: 7})
	if got := s.events(1, 5); string(got[0].Kv.Value) != "5" || got[0].Kv.ModRevision != 7 {
		t.Errorf("the first event after compaction: %v", got[0])
	}
	s.askProgress() // the ended watcher must not prevent it
	if r := s.next(); r.WatchId != noWatcher || r.Header.Revision != 11 {
		t.Errorf("progress: %v", r)
	}
	s.cancelWatch(0)
	if r := s.next(); !r.Canceled || r.WatchId != 0 {
		t.Errorf("canceling the compacted one: %v", r)
	}
}

func TestWatchFuture(t *testing.T) {
	b := newWatchBed(t, nil)
	s := b.stream()
	s.create(&pb.WatchCreateRequest{Key: []byte("a"), StartRevision: 4})
	for range 4 {
		b.put("a", "v")
	}
	if e := s.events(0, 2); e[0].Kv.ModRevision != 4 || e[1].Kv.ModRevision != 5 {
		t.Errorf("events %v", e)
	}
}

func TestWatchFragments(t *testing.T) {
	const limit, count, size = 10 << 10, 50, 1 << 10
	for _, fragment := range []bool{false, true} {
		b := newWatchBed(t, func(o *watchOptions) { o.maxBytes = limit })
		tx := b.keys.Write(traceutil.TODO())
		for i := range count {
			tx.Put(fmt.Appendf(nil, "k%02d", i), bytes.Repeat([]byte{'v'}, size), 0)
		}
		tx.End()
		s := b.stream()
		s.create(&pb.WatchCreateRequest{Key: []byte("k"), RangeEnd: []byte("l"), StartRevision: 1, Fragment: fragment})
		var events []*mvccpb.Event
		parts := 0
		for more := true; more; parts++ {
			r := s.next()
			if fragment && proto.Size(r) >= limit {
				t.Errorf("a fragment has %d bytes", proto.Size(r))
			}
			events, more = append(events, r.Events...), r.Fragment
		}
		if fragment != (parts > 1) {
			t.Errorf("fragment %v: %d parts", fragment, parts)
		}
		for i, e := range events {
			if string(e.Kv.Key) != fmt.Sprintf("k%02d", i) {
				t.Errorf("event %d is of %q", i, e.Kv.Key)
			}
		}
		if len(events) != count {
			t.Errorf("%d events", len(events))
		}
	}
}

// TestFragmentsOfLargeEvents checks that an event above the limit is sent alone.
func TestFragmentsOfLargeEvents(t *testing.T) {
	var events []*mvccpb.Event
	for _, size := range []int{10, 500, 10, 10, 10, 500} {
		events = append(events, &mvccpb.Event{Kv: &mvccpb.KeyValue{Key: []byte("k"), Value: make([]byte, size)}})
	}
	var got []string
	err := sendFragments(&pb.WatchResponse{WatchId: 3, Events: events}, 100, func(r *pb.WatchResponse) error {
		got = append(got, fmt.Sprint(len(r.Events), r.Fragment))
		return nil
	})
	if want := "[1 true 1 true 3 true 1 false]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("fragments %v, want %s", got, want)
	}
}

func TestWatchRefused(t *testing.T) {
	b := newWatchBed(t, func(o *watchOptions) {
		o.permit = func(_ context.Context, r *pb.WatchCreateRequest) (*identity, error) {
			if string(r.Key) == "secret" {
				return nil, rpctypes.ErrGRPCPermissionDenied
			}
			return &identity{}, nil
		}
	})
	s := b.stream()
	r := s.create(&pb.WatchCreateRequest{Key: []byte("secret")})
	if r.WatchId != noWatcher || !r.Canceled || r.CancelReason != "rpc error: code = PermissionDenied desc = etcdserver: permission denied" {
		t.Errorf("refusal: %v", r)
	}
	if r = s.create(&pb.WatchCreateRequest{Key: []byte("a")}); r.Canceled {
		t.Errorf("the stream does not go on: %v", r)
	}
}

// TestQueueWatch checks that both kinds of watches work on one stream, each with its own clock.
func TestQueueWatch(t *testing.T) {
	b := newWatchBed(t, nil)
	s := b.stream()
	s.create(&pb.WatchCreateRequest{Key: []byte("a")})
	if r := s.create(&pb.WatchCreateRequest{Key: []byte("/q/a/c/me")}); r.Header.Revision != 900 {
		t.Errorf("created at %d, want the revision that no event is before", r.Header.Revision)
	}
	q := b.queues.opened[0]
	q.happen("1", "2", "3")
	if r := s.next(); r.WatchId != 1 || len(r.Events) != 3 || r.Header.Revision != 1003 {
		t.Errorf("what was gathered comes in one response: %v", r)
	}
	b.put("a", "v")
	if e := s.events(0, 1); e[0].Kv.ModRevision != 2 {
		t.Errorf("event %v", e)
	}
	q.happen("4")
	q.finish(errors.New("the queue is gone"))
	s.events(1, 1)
	if r := s.next(); r.WatchId != 1 || !r.Canceled || r.CancelReason != "the queue is gone" {
		t.Errorf("the end: %v", r)
	}
	<-q.closed
	if r := s.create(&pb.WatchCreateRequest{Key: []byte("/q/a/c/me"), WatchId: 1}); r.WatchId != 1 {
		t.Errorf("the id is free again: %v", r)
	}
	s.cancelWatch(1)
	if r := s.next(); !r.Canceled {
		t.Errorf("canceling: %v", r)
	}
	<-b.queues.opened[1].closed
	b.queues.opened[1].happen("late") // no watcher: ignored
	s.create(&pb.WatchCreateRequest{Key: []byte("/q/a/c/me")})
	s.cancel()
	<-b.queues.opened[2].closed
}

func TestQueueResponsesAreBounded(t *testing.T) {
	b := newWatchBed(t, nil)
	s := b.stream()
	s.create(&pb.WatchCreateRequest{Key: []byte("/q/a/c/me")})
	big := strings.Repeat("x", maxResponseBytes*3/5)
	b.queues.opened[0].happen(big, big, "small", big)
	for _, want := range []struct {
		n        int
		revision int64
	}{{1, 1001}, {2, 1003}, {1, 1004}} {
		if r := s.next(); len(r.Events) != want.n || r.Header.Revision != want.revision {
			t.Errorf("%d events at %d, want %v", len(r.Events), r.Header.Revision, want)
		}
	}
}

func TestWatchEndsWithTheServer(t *testing.T) {
	b := newWatchBed(t, nil)
	s := b.stream()
	s.create(&pb.WatchCreateRequest{Key: []byte("/q/a/c/me")})
	b.drain()
	if err := <-s.ended; status.Code(err) != codes.Unavailable || !errors.Is(rpctypes.Error(err), rpctypes.ErrStopped) {
		t.Errorf("the stream ended with %v", err)
	}
	<-b.queues.opened[0].closed
}

func TestHalfClosedStreamKeepsItsWatchers(t *testing.T) {
	b := newWatchBed(t, nil)
	s := b.stream()
	s.create(&pb.WatchCreateRequest{Key: []byte("a")})
	if err := s.stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	b.put("a", "v")
	s.events(0, 1)
}

// TestThousandWatchers checks that many watchers on one stream all get a change, and that some may
// leave.
func TestThousandWatchers(t *testing.T) {
	const n = 1000
	b := newWatchBed(t, nil)
	s := b.stream()
	for i := range int64(n) {
		if r := s.create(&pb.WatchCreateRequest{Key: fmt.Appendf(nil, "k%03d", i%500)}); r.WatchId != i {
			t.Fatalf("id %d, want %d", r.WatchId, i)
		}
	}
	for i := range int64(n / 2) {
		s.cancelWatch(i)
		if r := s.next(); r.WatchId != i || !r.Canceled {
			t.Fatalf("canceling %d: %v", i, r)
		}
	}
	for i := range 500 {
		b.put(fmt.Sprintf("k%03d", i), "v")
	}
	heard := map[int64]int{}
	for range n / 2 {
		r := s.next()
		heard[r.WatchId] += len(r.Events)
	}
	for i := int64(n / 2); i < n; i++ {
		if heard[i] != 1 {
			t.Fatalf("watcher %d heard %d events", i, heard[i])
		}
	}
}

// TestSlowReader checks that a stream that is not read delays no other stream and misses nothing.
func TestSlowReader(t *testing.T) {
	const n = 5000
	b := newWatchBed(t, nil)
	slow := b.unread()
	slow.send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: &pb.WatchCreateRequest{Key: []byte("a"), PrevKv: true}}})
	if r, err := slow.stream.Recv(); err != nil || !r.Created {
		t.Fatal(r, err)
	}
	quick := b.stream()
	quick.create(&pb.WatchCreateRequest{Key: []byte("a")})
	go func() {
		for i := range n {
			b.put("a", fmt.Sprint(i))
		}
	}()
	quick.events(0, n)
	go slow.read()
	for i, e := range slow.events(0, n) {
		if e.Kv.ModRevision != int64(i+2) || string(e.Kv.Value) != fmt.Sprint(i) {
			t.Fatalf("event %d: %v", i, e)
		}
		if i > 0 && string(e.PrevKv.Value) != fmt.Sprint(i-1) {
			t.Fatalf("event %d: before it was %v", i, e.PrevKv)
		}
	}
}

// TestWatchAcrossCompaction checks that a slow watcher whose history was compacted is told so,
// instead of getting a gap.
func TestWatchAcrossCompaction(t *testing.T) {
	b := newWatchBed(t, nil)
	s := b.unread()
	s.send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: &pb.WatchCreateRequest{Key: []byte("a")}}})
	if r, err := s.stream.Recv(); err != nil || !r.Created {
		t.Fatal(r, err)
	}
	var last int64
	for i := range 3000 {
		last = b.put("a", fmt.Sprint(i))
	}
	b.compact(last)
	go s.read()
	next := int64(2)
	deadline := time.After(patience)
	for {
		select {
		case r := <-s.got:
			if r.Canceled {
				if r.CompactRevision != last {
					t.Errorf("compacted at %d, want %d", r.CompactRevision, last)
				}
				return
			}
			for _, e := range r.Events {
				if e.Kv.ModRevision != next {
					t.Fatalf("event of revision %d, want %d", e.Kv.ModRevision, next)
				}
				next++
			}
		case <-deadline:
			t.Fatal("no end")
		}
	}
}
