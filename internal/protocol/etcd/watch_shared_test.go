package etcd

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
)

// modelWatcher is what a watcher is expected to see.
type modelWatcher struct {
	request  *pb.WatchCreateRequest
	from     int64
	canceled bool
	want     []string
	got      []string
}

// sees reports whether the watcher gets an event.
func (m *modelWatcher) sees(e *mvccpb.Event) bool {
	key, first, end := string(e.Kv.Key), string(m.request.Key), string(m.request.RangeEnd)
	in := key == first
	if end != "" {
		in = key >= first && key < end
	}
	return in && e.Kv.ModRevision >= m.from && (len(m.request.Filters) == 0 || e.Type != mvccpb.Event_DELETE)
}

func eventText(e *mvccpb.Event) string {
	return fmt.Sprintf("%v %s=%s@%d before %s", e.Type, e.Kv.Key, e.Kv.Value, e.Kv.ModRevision, e.PrevKv.GetValue())
}

// Watchers of the same keys share a watcher of mvcc. Each gets exactly the events from its own
// start on, with the previous value if it wants it, while others come and go.
func TestSharedSources(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 5))
		b := newWatchBed(t, nil)
		s := b.stream()
		var all []*modelWatcher
		var history []*mvccpb.Event
		values := map[string]string{}
		happen := func() {
			key := string(rune('a' + rng.IntN(3)))
			e := &mvccpb.Event{Kv: &mvccpb.KeyValue{Key: []byte(key)}, PrevKv: &mvccpb.KeyValue{Value: []byte(values[key])}}
			if values[key] != "" && rng.IntN(4) == 0 {
				e.Type, values[key] = mvccpb.Event_DELETE, ""
				e.Kv.ModRevision = b.remove(key)
			} else {
				values[key] = fmt.Sprint("v", len(history))
				e.Kv.Value = []byte(values[key])
				e.Kv.ModRevision = b.put(key, values[key])
			}
			history = append(history, e)
		}
		expect := func(m *modelWatcher, e *mvccpb.Event) {
			if m.canceled || !m.sees(e) {
				return
			}
			if !m.request.PrevKv {
				e = &mvccpb.Event{Type: e.Type, Kv: e.Kv}
			}
			m.want = append(m.want, eventText(e))
		}
		// read handles a response of any watcher.
		read := func(r *pb.WatchResponse) {
			for _, e := range r.Events {
				all[r.WatchId].got = append(all[r.WatchId].got, eventText(e))
			}
		}
		for range 40 {
			switch n := rng.IntN(10); {
			case n < 5:
				for range 1 + rng.IntN(5) {
					happen()
					for _, m := range all {
						expect(m, history[len(history)-1])
					}
				}
			case n < 8:
				m := &modelWatcher{request: &pb.WatchCreateRequest{Key: []byte{byte('a' + rng.IntN(2))}, PrevKv: rng.IntN(3) == 0}}
				if rng.IntN(3) == 0 {
					m.request.RangeEnd = []byte("c")
				}
				if rng.IntN(4) == 0 {
					m.request.Filters = []pb.WatchCreateRequest_FilterType{pb.WatchCreateRequest_NODELETE}
				}
				revision := b.keys.Rev()
				m.from = revision + 1
				if rng.IntN(3) == 0 {
					m.request.StartRevision = 1 + rng.Int64N(revision+3)
					m.from = m.request.StartRevision
				}
				for _, e := range history {
					expect(m, e)
				}
				id := int64(len(all))
				all = append(all, m)
				m.request.WatchId = id // for the first one, 0: the stream chooses it
				s.send(&pb.WatchRequest{RequestUnion: &pb.WatchRequest_CreateRequest{CreateRequest: m.request}})
				for r := s.next(); !r.Created; r = s.next() {
					read(r)
				}
			case len(all) > 0:
				if i := rng.IntN(len(all)); !all[i].canceled {
					s.cancelWatch(int64(i))
					for r := s.next(); !r.Canceled; r = s.next() {
						read(r)
					}
					all[i].canceled = true
				}
			}
		}
		// Every watcher in force sees the last event, so that one too many would be noticed.
		for _, key := range []string{"a", "b"} {
			e := &mvccpb.Event{Kv: &mvccpb.KeyValue{Key: []byte(key), Value: []byte("end")}, PrevKv: &mvccpb.KeyValue{Value: []byte(values[key])}}
			e.Kv.ModRevision = b.put(key, "end")
			for _, m := range all {
				expect(m, e)
			}
		}
		waits := func(m *modelWatcher) bool { return !m.canceled && len(m.got) < len(m.want) }
		for slices.ContainsFunc(all, waits) {
			read(s.next())
		}
		for i, m := range all {
			want := m.want
			if m.canceled {
				want = want[:min(len(m.got), len(want))] // its end may overtake events
			}
			if !slices.Equal(m.got, want) {
				t.Errorf("seed %d, watcher %d (%v from %d): %q, want %q", seed, i, m.request, m.from, m.got, want)
			}
		}
		s.cancel()
	}
}

// Many watchers of a key have one source, which has room for one response to each put. Changes that
// come together are one response.
func TestManyWatchersOfAKey(t *testing.T) {
	b := newWatchBed(t, nil)
	w, stream := b.direct()
	const watchers, puts = 300, 100
	for range watchers {
		watchA(t, w)
	}
	for i := range puts {
		b.put("a", fmt.Sprint(i))
	}
	stream.sent = nil
	if err := w.allOrdinary(<-w.kv.Chan()); err != nil {
		t.Fatal(err)
	}
	if len(w.sources) != 1 || len(stream.sent) != watchers {
		t.Errorf("%d sources and %d responses", len(w.sources), len(stream.sent))
	}
	for _, r := range stream.sent {
		if len(r.Events) != puts || string(r.Events[puts-1].Kv.Value) != fmt.Sprint(puts-1) {
			t.Fatalf("watcher %d: %d events", r.WatchId, len(r.Events))
		}
	}
	for id := range int64(watchers) {
		if err := w.cancel(id); err != nil {
			t.Fatal(err)
		}
	}
	if len(w.sources) != 0 || len(w.shared) != 0 {
		t.Errorf("%d sources are left, %d of them to be shared", len(w.sources), len(w.shared))
	}
}

// A watcher that joins a source of which history is compacted misses nothing, unlike those that
// were there before.
func TestJoiningACompactedSource(t *testing.T) {
	b := newWatchBed(t, nil)
	w, stream := b.direct()
	create := func() { watchA(t, w) }
	create()
	var last int64
	for range 2 * mvcc.ChanBufLen() { // nobody reads, so the source lags
		last = b.put("a", "before")
	}
	b.compact(last)
	create()
	b.put("a", "after")
	canceled := map[int64]bool{}
	var got []string
	for len(got) == 0 || !canceled[0] {
		stream.sent = nil
		if err := w.allOrdinary(<-w.kv.Chan()); err != nil {
			t.Fatal(err)
		}
		for _, r := range stream.sent {
			canceled[r.WatchId] = canceled[r.WatchId] || r.Canceled
			if r.WatchId == 1 {
				for _, e := range r.Events {
					got = append(got, string(e.Kv.Value))
				}
			}
		}
	}
	if !slices.Equal(got, []string{"after"}) || canceled[1] {
		t.Errorf("the second watcher got %q, canceled: %v", got, canceled[1])
	}
}
