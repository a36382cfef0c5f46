package queues

import (
	"context"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc/codes"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/lists"
	"fiveways.dev/fiveways/internal/core/catalog"
)

// A message goes from a producer's key to a consumer's, stays in the queue until its delivery is
// deleted, and every key shows the current state.
func TestMessage(t *testing.T) {
	w := newWorld(t, nil)
	x := w.watchAll("/q/a/c/w/")
	w.put("/q/a/p/k", "v")
	same(t, x.next(1), "/q/a/c/w/"+i(1)+"/k=v")
	same(t, w.all("/q/a"), "/q/a=n1", "/q/a/"+i(1)+"/k=v", "/q/a/c/w=n1", "/q/a/c/w/"+i(1)+"/k=v")
	same(t, w.all("/q/"), "/q/a=n1", "/q/a/"+i(1)+"/k=v", "/q/a/c/w=n1", "/q/a/c/w/"+i(1)+"/k=v")
	same(t, w.all("/queue/a/"), "/queue/a/"+i(1)+"/k=v", "/queue/a/consumer/w=n1", "/queue/a/consumer/w/"+i(1)+"/k=v")
	same(t, w.get("/q/a/1/k", ""), "/q/a/1/k=v")
	same(t, w.get("/q/a/c/w/1/k", ""), "/q/a/c/w/1/k=v")
	for _, gone := range []string{"/q/a/1/other", "/q/a/2/k", "/q/a/c/w/1/other", "/q/a/c/w/2/k", "/q/a/c/x", "/q/b", "/q/b/1/k", "/q/a/p/k", "/q/a/c"} {
		same(t, w.get(gone, ""))
	}
	if n := w.delete("/q/a/c/w/" + i(1) + "/k"); n != 1 {
		t.Fatalf("deleted %d", n)
	}
	same(t, x.next(1), "-/q/a/c/w/"+i(1)+"/k")
	same(t, w.all("/q/a"), "/q/a=n1", "/q/a/c/w=n1")
	if n := w.delete("/q/a/c/w/" + i(1) + "/k"); n != 0 {
		t.Fatalf("deleted %d twice", n)
	}
}

// All spellings of a key are equivalent, and events use the spelling of the watch.
func TestSpellings(t *testing.T) {
	w := newWorld(t, nil)
	n := uint64(0)
	for _, watch := range []string{"/q/a/c/w", "/q/a/c/w/", "/queue/a/consumer/w", "/queue/a/c/w/", "/q/a/consumer/w"} {
		x := w.watch(watch)
		base := watch
		if base[len(base)-1] == '/' {
			base = base[:len(base)-1]
		}
		for _, put := range []string{"/q/a/p/k", "/q/a/i/me/k", "/queue/a/producer/k", "/queue/a/producer/me/k", "/queue/a/input/k", "/q/a/p/me/k/l"} {
			n++
			tail := "k"
			if put == "/q/a/p/me/k/l" {
				tail = "k/l"
			}
			w.put(put, "v")
			same(t, x.next(1), base+"/"+i(n)+"/"+tail+"=v")
			if d := w.delete(base + "/" + i(n) + "/" + tail); d != 1 {
				t.Fatalf("deleted %d", d)
			}
		}
		x.Close()
	}
}

// Names of queues and clients may contain characters that must be escaped in a segment.
func TestNames(t *testing.T) {
	w := newWorld(t, nil)
	x := w.watch("/q/a%2Fb%25/c/w%2F1")
	w.put("/q/a%2fb%25/p/k", "v")
	same(t, x.next(1), "/q/a%2Fb%25/c/w%2F1/"+i(1)+"/k=v")
	same(t, w.all("/q/"), "/q/a%2Fb%25=n1", "/q/a%2Fb%25/"+i(1)+"/k=v", "/q/a%2Fb%25/c/w%2F1=n1", "/q/a%2Fb%25/c/w%2F1/"+i(1)+"/k=v")
	same(t, w.all("/q/a%2fb%25/c/w%2f1/"), "/q/a%2fb%25/c/w%2f1/"+i(1)+"/k=v")
	if !w.who.Session.HasQueue("a/b%") {
		t.Fatal("no such queue in the engine")
	}
}

// Other protocols see the properties of a message, and their messages are visible as keys.
func TestProperties(t *testing.T) {
	w := newWorld(t, nil)
	w.put("/q/a/p/me/k/l", "v")
	w.put("/q/a/p/k", "v")
	s := w.who.Session
	for _, want := range []string{"me k/l v", " k v"} {
		d, _, ok, err := s.Get("a", true)
		must(t, err)
		if p := properties(t, d.Env); !ok || p.AppID+" "+p.MessageID+" "+string(d.Env.Body()) != want || p.DeliveryMode != 2 {
			t.Fatalf("got %+v, want %q", p, want)
		}
	}
	must(t, s.Do(&lists.Push{OnQueue: broker.OnQueue{Queue: "a"}, Bodies: [][]byte{[]byte("pushed")}}))
	same(t, w.all("/q/a/"), "/q/a/"+i(3)+"/"+i(3)+"=pushed")
	same(t, w.get("/q/a/3/"+i(3), ""), "/q/a/3/"+i(3)+"=pushed")
	x := w.watch("/q/a/c/w")
	same(t, x.next(1), "/q/a/c/w/"+i(3)+"/"+i(3)+"=pushed")
	if n := w.delete("/q/a/c/w/" + i(3) + "/" + i(3)); n != 1 {
		t.Fatalf("deleted %d", n)
	}
}

// A watch of a consumer's key alone reports only messages, so that the next event is always the
// next message. A watch of a range also reports deleted keys.
func TestDeletionsAreForRanges(t *testing.T) {
	w := newWorld(t, nil)
	alone, all := w.watch("/q/a/c/w"), w.watchAll("/q/a/c/w")
	quiet, err := w.watchWith(w.who, &pb.WatchCreateRequest{
		Key: []byte("/q/a/c/w/"), RangeEnd: []byte("/q/a/c/w0"), Filters: []pb.WatchCreateRequest_FilterType{pb.WatchCreateRequest_NODELETE},
	})
	must(t, err)
	deaf, err := w.watchWith(w.who, &pb.WatchCreateRequest{
		Key: []byte("/q/a/c/w/"), RangeEnd: []byte("/q/a/c/w0"), Filters: []pb.WatchCreateRequest_FilterType{pb.WatchCreateRequest_NOPUT}, PrevKv: true,
	})
	must(t, err)
	last := int64(0)
	for n := range uint64(3) {
		key := "/q/a/c/w/" + i(n+1) + "/k"
		w.put("/q/a/p/k", "v")
		same(t, alone.next(1), key+"=v")
		same(t, quiet.next(1), key+"=v")
		same(t, all.next(1), key+"=v")
		w.delete(key) // not before it is delivered: until then the consumer has no such key
		e := deaf.events(1)[0]
		if string(e.Kv.Key) != key || string(e.PrevKv.GetValue()) != "v" || e.PrevKv.ModRevision >= e.Kv.ModRevision || e.PrevKv.ModRevision <= last {
			t.Fatalf("got %v", e)
		}
		last = e.Kv.ModRevision
		same(t, all.next(1), "-"+key)
	}
}

// A watch with a start revision reports the deliveries since then that are still held. Without one
// it reports all held deliveries.
func TestStartRevision(t *testing.T) {
	w := newWorld(t, nil)
	x := w.watch("/q/a/c/w")
	w.put("/q/a/p/1", "v")
	w.put("/q/a/p/2", "v")
	w.put("/q/a/p/3", "v")
	events := x.events(3)
	w.delete("/q/a/c/w/1/1")
	again := w.watch("/q/a/c/w")
	same(t, again.next(2), "/q/a/c/w/"+i(2)+"/2=v", "/q/a/c/w/"+i(3)+"/3=v")
	if again.since != events[1].Kv.ModRevision {
		t.Fatalf("since %d, want %d", again.since, events[1].Kv.ModRevision)
	}
	later, err := w.watchWith(w.who, &pb.WatchCreateRequest{Key: []byte("/q/a/c/w"), StartRevision: events[1].Kv.ModRevision + 1})
	must(t, err)
	same(t, later.next(1), "/q/a/c/w/"+i(3)+"/3=v")
	w.put("/q/a/p/4", "v")
	for _, x := range []*watcher{x, again, later} {
		same(t, x.next(1), "/q/a/c/w/"+i(4)+"/4=v")
	}
}

// A client may resume a watch at a node whose time is behind that of the node that served it
// before. It gets all messages, and their revisions grow.
func TestStartRevisionOfAFasterClock(t *testing.T) {
	w := newWorld(t, nil)
	kept := w.watch("/q/a/c/w")
	w.put("/q/a/p/1", "v")
	kept.next(1)
	from := time.Now().Add(time.Hour).UnixMicro()
	later, err := w.watchWith(w.who, &pb.WatchCreateRequest{Key: []byte("/q/a/c/w"), StartRevision: from})
	must(t, err)
	w.put("/q/a/p/2", "v")
	events := later.events(2)
	if first, second := events[0].Kv, events[1].Kv; string(first.Value) != "v" || second.ModRevision < from {
		t.Errorf("%v and %v from %d on", first, second, from)
	}
}

// Forbidden requests are refused as etcd refuses them, and change nothing.
func TestRefused(t *testing.T) {
	w := newWorld(t, nil)
	x := w.watch("/q/a/c/w")
	w.put("/q/a/p/k", "v")
	x.next(1)
	before := w.all("/q/")
	prefix := func(p string) (string, string) { return p, p[:len(p)-1] + string(p[len(p)-1]+1) }
	for _, key := range []string{"/q/a/1/k", "/q/a/c", "/q/a/c/", "/q/a/p/k", "/q/a/c/w/1/", "/q/", "/q//", "/q/a/x"} {
		_, err := w.n.DeleteRange(w.who, &pb.DeleteRangeRequest{Key: []byte(key)})
		wantCode(t, err, codes.PermissionDenied)
	}
	for _, p := range []string{"/q/", "/q/a", "/q/a/", "/q/a/c/", "/q/a/0", "/q/a/p/"} {
		key, end := prefix(p)
		_, err := w.n.DeleteRange(w.who, &pb.DeleteRangeRequest{Key: []byte(key), RangeEnd: []byte(end)})
		wantCode(t, err, codes.PermissionDenied)
	}
	for _, key := range []string{"/q/a/1/k", "/q/a/c", "/q/a/c/", "/q/a/c/w/1/k", "/q/", "/q//", "/q/a/x", "/q/a/p", "/q/a/p/", "/q/a/p/me/"} {
		_, err := w.n.Put(context.Background(), w.who, &pb.PutRequest{Key: []byte(key)})
		wantCode(t, err, codes.PermissionDenied)
	}
	for _, r := range []*pb.PutRequest{{Lease: 7}, {IgnoreValue: true}, {IgnoreLease: true}} {
		r.Key = []byte("/q/a/p/k")
		_, err := w.n.Put(context.Background(), w.who, r)
		wantCode(t, err, codes.InvalidArgument)
	}
	_, err := w.n.Put(context.Background(), w.who, &pb.PutRequest{Key: []byte("/q/a/c/new"), Lease: 7})
	wantCode(t, err, codes.NotFound)
	_, err = w.n.Put(context.Background(), w.who, &pb.PutRequest{Key: []byte("/q/a/p/" + string(make([]byte, 256)))})
	wantCode(t, err, codes.InvalidArgument)
	_, err = w.n.Put(context.Background(), w.who, &pb.PutRequest{Key: []byte("/q/amq.x/p/k")})
	wantCode(t, err, codes.PermissionDenied)
	for _, key := range []string{"/q/a", "/q/a/p/k", "/q/a/c", "/q/a/1/k", "/q/a/c/w/1/k"} {
		_, err := w.watchWith(w.who, &pb.WatchCreateRequest{Key: []byte(key)})
		wantCode(t, err, codes.InvalidArgument)
	}
	_, err = w.watchWith(w.who, &pb.WatchCreateRequest{Key: []byte("/q/a/c/"), RangeEnd: []byte("/q/a/c0")})
	wantCode(t, err, codes.InvalidArgument)
	_, err = w.n.Range(w.who, &pb.RangeRequest{Key: []byte("/q/a"), Revision: 1 << 62})
	wantCode(t, err, codes.OutOfRange)
	same(t, w.all("/q/"), before...)
}

// Users do what their permissions allow, and affect no consumer of another user.
func TestPermissions(t *testing.T) {
	w := newWorld(t, nil)
	_, err := w.b.PutUser(catalog.UserSpec{Name: "bob", Password: "secret"})
	must(t, err)
	_, err = w.b.SetPermission(catalog.Permission{User: "bob", VHost: "/", Configure: "^mine", Write: "^(mine|in)", Read: "^(mine|out)"})
	must(t, err)
	bob := w.caller("bob")
	w.watch("/q/out/c/w")
	w.put("/q/in/p/k", "v")
	w.put("/q/out/p/k", "v")
	put := func(key string) error {
		_, err := w.n.Put(context.Background(), bob, &pb.PutRequest{Key: []byte(key)})
		return err
	}
	del := func(key string) error {
		_, err := w.n.DeleteRange(bob, &pb.DeleteRangeRequest{Key: []byte(key)})
		return err
	}
	get := func(key string) error { _, err := w.n.Range(bob, &pb.RangeRequest{Key: []byte(key)}); return err }
	watch := func(key string) error {
		_, err := w.watchWith(bob, &pb.WatchCreateRequest{Key: []byte(key)})
		return err
	}
	for _, err := range []error{put("/q/in/p/k"), put("/q/mine/p/k"), put("/q/mine/c/w"), put("/q/mine2"), get("/q/out/1/k"), del("/q/mine/c/w"), watch("/q/out/c/b")} {
		must(t, err)
	}
	for n, err := range []error{
		put("/q/out/p/k"), put("/q/inner/p/k"), put("/q/in/c/w"), put("/q/x"), get("/q/in/1/k"), get("/q/in"), watch("/q/in/c/w"),
		watch("/q/outer/c/w"), watch("/q/out/c/w"), put("/q/out/c/w"), del("/q/out/c/w/1/k"), del("/q/out/c/w"), del("/q/out"), del("/q/in/c/nobody/1/k"),
	} {
		if err == nil {
			t.Fatalf("%d was allowed", n)
		}
		wantCode(t, err, codes.PermissionDenied)
	}
	r, err := w.n.Range(bob, &pb.RangeRequest{Key: []byte("/q/"), RangeEnd: []byte("/q0"), KeysOnly: true})
	must(t, err)
	for _, kv := range r.Kvs {
		if k := string(kv.Key); k[:5] != "/q/mi" && k[:5] != "/q/ou" {
			t.Fatalf("bob sees %q", k)
		}
	}
	batcher, done := w.batcher(bob), make(answered, 1)
	if !batcher.StartPut([]byte("/q/out/p/k"), nil, done) {
		t.Fatal("the batcher leaves what it can refuse")
	}
	wantCode(t, <-done, codes.PermissionDenied)
	bob.Root = true
	must(t, del("/q/out/c/w"))
}
