package semkeys

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"

	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
	"fiveways.dev/fiveways/internal/semaphores"
)

// A watch reports every change of a status or a priority, with the previous state, and the end.
func TestWatch(t *testing.T) {
	w := newWorld(t)
	all := w.watch(&pb.WatchCreateRequest{Key: []byte("/semaphore/"), RangeEnd: prefixEnd("/semaphore/"), PrevKv: true})
	w.put("/semaphore/s", `{"active":1,"try_release":1}`)
	tasks, one, ends := w.watchAll("/semaphore/s/"), w.watch(&pb.WatchCreateRequest{Key: []byte("/semaphore/s/b")}), w.watch(&pb.WatchCreateRequest{
		Key: []byte("/semaphore/s/"), RangeEnd: prefixEnd("/semaphore/s/"), Filters: []pb.WatchCreateRequest_FilterType{pb.WatchCreateRequest_NOPUT},
	})
	own, other := w.watch(&pb.WatchCreateRequest{Key: []byte("/semaphore/s")}), w.watchAll("/semaphore/s2")
	w.put("/semaphore/s2", "")
	w.put("/semaphore/s/a", "1")
	w.put("/semaphore/s/b", "2")
	w.put("/semaphore/s/b", "0")
	w.delete("/semaphore/s/a")
	w.put("/semaphore/s", `{"active":0}`)
	w.delete("/semaphore/s")
	same(t, tasks.next(10),
		"+/semaphore/s/a=WAIT 1", "/semaphore/s/a=ACQUIRED 1",
		"+/semaphore/s/b=WAIT 2", "/semaphore/s/a=TRY_RELEASE 1",
		"/semaphore/s/b=WAIT 0", "/semaphore/s/a=ACQUIRED 1",
		"-/semaphore/s/a", "/semaphore/s/b=ACQUIRED 0", "/semaphore/s/b=TRY_RELEASE 0", "-/semaphore/s/b")
	same(t, one.next(5), "+/semaphore/s/b=WAIT 2", "/semaphore/s/b=WAIT 0", "/semaphore/s/b=ACQUIRED 0", "/semaphore/s/b=TRY_RELEASE 0", "-/semaphore/s/b")
	same(t, ends.next(2), "-/semaphore/s/a", "-/semaphore/s/b")
	same(t, own.next(2), "/semaphore/s=0/1", "-/semaphore/s")
	same(t, other.next(1), "/semaphore/s2=1000/900")
	got := all.next(14)
	same(t, got[:8],
		"/semaphore/s=1/1", "/semaphore/s2=1000/900",
		"+/semaphore/s/a=WAIT 1", "/semaphore/s/a=ACQUIRED 1 was /semaphore/s/a=WAIT 1",
		"+/semaphore/s/b=WAIT 2", "/semaphore/s/a=TRY_RELEASE 1 was /semaphore/s/a=ACQUIRED 1",
		"/semaphore/s/b=WAIT 0 was /semaphore/s/b=WAIT 2", "/semaphore/s/a=ACQUIRED 1 was /semaphore/s/a=TRY_RELEASE 1")
	if got[8] != "-/semaphore/s/a was /semaphore/s/a=ACQUIRED 1" {
		t.Errorf("%q", got[8])
	}
}

// Revisions grow with every event. A watch that resumes at a revision misses nothing and gets
// nothing twice.
func TestWatchFromThePast(t *testing.T) {
	w := newWorld(t)
	w.put("/semaphore/s", "")
	seen := w.ask(&pb.RangeRequest{Key: []byte("/semaphore/s/"), RangeEnd: prefixEnd("/semaphore/s/")}).Header.Revision
	for i := range 10 {
		w.put(fmt.Sprint("/semaphore/s/", i), "1")
	}
	whole := w.watch(&pb.WatchCreateRequest{Key: []byte("/semaphore/s/"), RangeEnd: prefixEnd("/semaphore/s/"), StartRevision: seen + 1})
	events := whole.events(20)
	for i, e := range events {
		if e.Kv.ModRevision <= seen || e.Kv.ModRevision < whole.since {
			t.Fatalf("revision %d after %d, since %d", e.Kv.ModRevision, seen, whole.since)
		}
		seen = e.Kv.ModRevision
		again := w.watch(&pb.WatchCreateRequest{Key: []byte("/semaphore/s/"), RangeEnd: prefixEnd("/semaphore/s/"), StartRevision: seen + 1})
		if rest := 20 - i - 1; rest > 0 && again.events(rest)[0].Kv.ModRevision != events[i+1].Kv.ModRevision {
			t.Fatalf("from %d on", seen+1)
		}
	}
	later := w.watch(&pb.WatchCreateRequest{Key: []byte("/semaphore/s/0"), StartRevision: seen + 2})
	w.put("/semaphore/s/0", "2")
	w.put("/semaphore/s/0", "3")
	if e := later.events(1)[0]; e.Kv.ModRevision < seen+2 {
		t.Errorf("%v from revision %d on", e, seen+2)
	}
}

// Events that are no longer kept are reported as lost.
func TestWatchOfTheDistantPast(t *testing.T) {
	w := newWorld(t)
	w.put("/semaphore/s", `{"active":0}`)
	lost := func(r *pb.WatchCreateRequest) int64 {
		t.Helper()
		var c *virtual.Compacted
		if err := w.watch(r).end(); !errors.As(err, &c) {
			t.Fatalf("it ended with %v", err)
		}
		return c.Revision
	}
	from := &pb.WatchCreateRequest{Key: []byte("/semaphore/s/t"), StartRevision: 1}
	from.StartRevision = lost(from)
	slow := w.watchAll("/semaphore/s/")
	current := w.watch(from)
	for i := 0; i <= maxPending; i += 1 << 12 {
		entries := make([]semaphores.Entry, 1<<12)
		for k := range entries {
			entries[k].Task = fmt.Sprint(i + k)
		}
		must(t, w.n.do(&semaphores.Enqueue{Of: semaphores.Of{Key: "s"}, Entries: entries}))
	}
	w.put("/semaphore/s/t", "1")
	same(t, current.next(1), "+/semaphore/s/t=WAIT 1")
	if revision := lost(from); revision <= from.StartRevision {
		t.Errorf("compacted to %d", revision)
	}
	var c *virtual.Compacted
	if err := slow.end(); !errors.As(err, &c) {
		t.Errorf("a watch that is far behind ended with %v", err)
	}
}

// A start revision that the clock has not reached is of a node whose time was ahead: what happened
// since then is not known. The revisions grow nevertheless.
func TestWatchFromAFasterClock(t *testing.T) {
	w := newWorld(t)
	w.put("/semaphore/s", "")
	from := &pb.WatchCreateRequest{Key: []byte("/semaphore/s/t"), StartRevision: time.Now().Add(time.Hour).UnixMicro()}
	var lost *virtual.Compacted
	if err := w.watch(from).end(); !errors.As(err, &lost) || lost.Revision != from.StartRevision {
		t.Fatalf("it ended with %v", err)
	}
	x := w.watch(from)
	w.put("/semaphore/s/t", "1")
	if e := x.events(1)[0]; e.Kv.ModRevision < from.StartRevision {
		t.Errorf("%v from revision %d on", e, from.StartRevision)
	}
}

// A watch over several semaphores reports those that its user may read at that time.
func TestWatchPermissions(t *testing.T) {
	w := newWorld(t)
	bob := w.user("bob", "", "", "^a$")
	x, err := w.watchAs(bob, &pb.WatchCreateRequest{Key: []byte("/semaphore/"), RangeEnd: prefixEnd("/semaphore/")})
	must(t, err)
	defer x.Close()
	for _, key := range []string{"a", "b", "a"} {
		w.put("/semaphore/"+key, "")
		w.put("/semaphore/"+key+"/t", "1")
	}
	w.put("/semaphore/a/u", "1")
	got := x.next(5)
	for _, text := range got {
		if text[1:len("/semaphore/b")+1] == "/semaphore/b" || text[:len("/semaphore/b")] == "/semaphore/b" {
			t.Errorf("he hears of %s", text)
		}
	}
	_, err = w.watchAs(bob, &pb.WatchCreateRequest{Key: []byte("/semaphore/")})
	refused(t, err, "InvalidArgument: etcdserver: keys of semaphores are")
}

// An end of one zero byte means all keys, which here are all semaphores.
func TestWatchToTheEnd(t *testing.T) {
	w := newWorld(t)
	x := w.watch(&pb.WatchCreateRequest{Key: []byte("/semaphore/b"), RangeEnd: []byte{0}})
	for _, key := range []string{"a", "b", "z"} {
		w.put("/semaphore/"+key, "")
	}
	same(t, x.next(2), "/semaphore/b=1000/900", "/semaphore/z=1000/900")
	if events, revision, err := x.Take(); len(events) != 0 || revision == 0 || err != nil {
		t.Errorf("%v %d %v", events, revision, err)
	}
}

var _ virtual.Watcher = (*Watch)(nil)

// Events have the types that clients know.
func TestEventKinds(t *testing.T) {
	w := newWorld(t)
	w.put("/semaphore/s", "")
	x := w.watchAll("/semaphore/s/")
	w.leases.set(5, true)
	_, err := w.n.Put(context.Background(), w.who, &pb.PutRequest{Key: []byte("/semaphore/s/t"), Value: []byte("1"), Lease: 5})
	must(t, err)
	w.delete("/semaphore/s/t")
	events := x.events(3)
	for i, want := range []struct {
		create, modify bool
		lease          int64
		kind           mvccpb.Event_EventType
	}{{true, false, 5, mvccpb.Event_PUT}, {false, true, 5, mvccpb.Event_PUT}, {false, false, 0, mvccpb.Event_DELETE}} {
		e := events[i]
		put := e.Type == mvccpb.Event_PUT
		create, modify := put && e.Kv.CreateRevision == e.Kv.ModRevision, put && e.Kv.CreateRevision < e.Kv.ModRevision
		if create != want.create || modify != want.modify || e.Kv.Lease != want.lease || e.Type != want.kind {
			t.Errorf("event %d: %v", i, e)
		}
	}
}
