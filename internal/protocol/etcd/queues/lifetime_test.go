package queues

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc/codes"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/lists"
	"fiveways.dev/fiveways/internal/core/catalog"
)

// A consumer without watches and lease ends when it is idle for some time. Every request of its
// client counts as use.
func TestIdleConsumerGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.put("/q/a/c/w", "anything")
		same(t, w.get("/q/a/c/w", ""), "/q/a/c/w=n1")
		w.put("/q/a/p/k", "v")
		for _, use := range []func(){
			func() { w.get("/q/a/c/w", "") },
			func() { w.all("/q/a/c/w/") },
			func() { w.delete("/q/a/c/w/1/k") },
			func() { w.put("/q/a/c/w", "") },
			func() { w.get("/q/a/c/w/1/k", "") },
		} {
			time.Sleep(DefaultConsumerIdle - time.Second)
			use()
		}
		w.put("/q/a/p/l", "v")
		synctest.Wait()
		same(t, w.all("/q/a/c/w/"), "/q/a/c/w/"+i(2)+"/l=v")
		time.Sleep(DefaultConsumerIdle + time.Second)
		synctest.Wait()
		same(t, w.all("/q/a"), "/q/a=n1", "/q/a/"+i(2)+"/l=v")

		w.put("/q/a/c/w", "")
		x := w.watch("/q/a/c/w")
		time.Sleep(time.Hour)
		synctest.Wait()
		same(t, w.get("/q/a/c/w", ""), "/q/a/c/w=n1")
		x.Close()
		same(t, w.get("/q/a/c/w", ""))
	})
}

// The deliveries of a deleted user's consumer go to others, even if a lease keeps the consumer.
func TestUserDeleted(t *testing.T) {
	w := newWorld(t, func(o *settings) { o.base.LeaseExists = func(int64) bool { return true } })
	_, err := w.b.PutUser(catalog.UserSpec{Name: "bob", Password: "secret"})
	must(t, err)
	_, err = w.b.SetPermission(catalog.Permission{User: "bob", VHost: "/", Configure: ".*", Write: ".*", Read: ".*"})
	must(t, err)
	_, err = w.n.Put(context.Background(), w.caller("bob"), &pb.PutRequest{Key: []byte("/q/a/c/b"), Lease: 7})
	must(t, err)
	w.put("/q/a/p/k", "v")
	x := w.watch("/q/a/c/w")
	same(t, w.get("/q/a/c/b/1/k", ""), "/q/a/c/b/1/k=v")
	c := w.n.find([]byte("a"), []byte("b"))
	must(t, w.b.DeleteUser("bob"))
	same(t, x.next(1), "/q/a/c/w/"+i(1)+"/k=v")
	<-c.gone
	same(t, w.get("/q/a/c/b", ""))
}

// leases simulates the leases of the store.
type leases struct {
	mu    sync.Mutex
	there map[int64]bool
}

func (l *leases) exists(id int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.there[id]
}

func (l *leases) end(n *Namespace, id int64) {
	l.mu.Lock()
	delete(l.there, id)
	l.mu.Unlock()
	n.LeaseEnded(id)
}

// A consumer with a lease lives as long as the lease, or as long as it is watched if that is
// longer. Another put changes the lease.
func TestLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &leases{there: map[int64]bool{1: true, 2: true, 3: true}}
		w := newWorld(t, func(o *settings) { o.base.LeaseExists = l.exists })
		put := func(lease int64) {
			t.Helper()
			_, err := w.n.Put(context.Background(), w.who, &pb.PutRequest{Key: []byte("/q/a/c/w"), Lease: lease})
			must(t, err)
		}
		there := func(want bool) {
			t.Helper()
			synctest.Wait()
			if got := len(w.get("/q/a/c/w", "")) == 1; got != want {
				t.Fatalf("the consumer is there: %v", got)
			}
		}
		put(1)
		x := w.watch("/q/a/c/w")
		x.Close()
		time.Sleep(time.Hour)
		there(true)
		put(2)
		l.end(w.n, 1)
		there(true)
		x = w.watch("/q/a/c/w")
		l.end(w.n, 2)
		there(true)
		x.Close()
		there(false)

		put(3)
		r, err := w.n.Range(w.who, &pb.RangeRequest{Key: []byte("/q/a/c/w")})
		must(t, err)
		if r.Kvs[0].Lease != 3 {
			t.Fatalf("lease %d", r.Kvs[0].Lease)
		}
		put(0)
		l.end(w.n, 3)
		there(true)
		time.Sleep(DefaultConsumerIdle + time.Second)
		there(false)
		_, err = w.n.Put(context.Background(), w.who, &pb.PutRequest{Key: []byte("/q/a/c/w"), Lease: 3})
		wantCode(t, err, codes.NotFound)
		there(false)
	})
}

// A consumer holds at most this many messages. When it is deleted, its deliveries go to others,
// before later messages.
func TestLimitAndOrder(t *testing.T) {
	w := newWorld(t, func(o *settings) { o.ConsumerLimit = 3 })
	first := w.watch("/q/a/c/1")
	for n := range 8 {
		w.put(fmt.Sprintf("/q/a/p/%d", n+1), "v")
	}
	first.events(3)
	same(t, w.all("/q/a/c/1/"), "/q/a/c/1/"+i(1)+"/1=v", "/q/a/c/1/"+i(2)+"/2=v", "/q/a/c/1/"+i(3)+"/3=v")
	second := w.watch("/q/a/c/2")
	second.events(3)
	w.delete("/q/a/c/1/2/2")
	same(t, first.next(1), "/q/a/c/1/"+i(7)+"/7=v")
	if n := w.delete("/q/a/c/1"); n != 1 {
		t.Fatalf("deleted %d", n)
	}
	wantCode(t, first.end(), codes.Aborted)
	third := w.watch("/q/a/c/3")
	same(t, third.next(3), "/q/a/c/3/"+i(1)+"/1=v", "/q/a/c/3/"+i(3)+"/3=v", "/q/a/c/3/"+i(7)+"/7=v")
	w.deleteAll("/q/a/c/3/")
	same(t, third.next(1), "/q/a/c/3/"+i(8)+"/8=v")
	if n := w.deleteAll("/q/a/c/3"); n != 2 {
		t.Fatalf("deleted %d", n)
	}
	if n := w.deleteAll("/q/a/c/2/" + i(5)); n != 1 {
		t.Fatalf("deleted %d", n)
	}
	same(t, w.all("/q/a/"), "/q/a/"+i(4)+"/4=v", "/q/a/"+i(6)+"/6=v", "/q/a/c/2=n1", "/q/a/c/2/"+i(4)+"/4=v", "/q/a/c/2/"+i(6)+"/6=v")
}

// A consumer whose watch is not read gets only what the window allows, and continues when it is
// read.
func TestWatchThatIsNotRead(t *testing.T) {
	w := newWorld(t, func(o *settings) { o.ConsumerLimit = 1000 })
	x := w.watch("/q/a/c/w")
	body := string(make([]byte, 64<<10))
	for range 64 {
		w.put("/q/a/p/k", body)
	}
	held := len(w.all("/q/a/c/w/"))
	if held == 0 || held > 20 {
		t.Fatalf("%d messages of 64 KiB are held", held)
	}
	for n := range uint64(64) {
		x.events(1)
		w.delete("/q/a/c/w/" + i(n+1) + "/k")
	}
	same(t, w.all("/q/a/0"))
}

// Deleting a queue ends its consumers and their deliveries. A put creates a new one.
func TestQueueDeleted(t *testing.T) {
	w := newWorld(t, nil)
	x := w.watch("/q/a/c/w")
	w.put("/q/a/p/k", "v")
	x.events(1)
	if n := w.delete("/q/a"); n != 1 {
		t.Fatalf("deleted %d", n)
	}
	wantCode(t, x.end(), codes.Aborted)
	if n := w.delete("/q/a"); n != 0 {
		t.Fatalf("deleted %d", n)
	}
	x = w.watch("/q/a/c/w")
	w.put("/q/a/p/k", "again")
	same(t, x.next(1), "/q/a/c/w/"+i(1)+"/k=again")
	w.put("/q/b", "")
	same(t, w.get("/q/b", ""), "/q/b=n1")
	w.put("/q/b", "")
}

// When the namespace closes, consumers end and their messages become available to others.
func TestClose(t *testing.T) {
	w := newWorld(t, nil)
	x := w.watch("/q/a/c/w")
	w.put("/q/a/p/k", "v")
	x.events(1)
	w.n.Close(context.Background())
	wantCode(t, x.end(), codes.Unavailable)
	x.Close()
	_, err := w.watchWith(w.who, &pb.WatchCreateRequest{Key: []byte("/q/a/c/w")})
	wantCode(t, err, codes.Unavailable)
	d, _, ok, err := w.who.Session.Get("a", true)
	must(t, err)
	if !ok || !d.Redelivered || string(d.Env.Body()) != "v" {
		t.Fatalf("got %v %+v", ok, d)
	}
}

// Many consumers of a queue get about the same number of messages.
func TestManyConsumersShare(t *testing.T) {
	const consumers, each = 1000, 3
	w := newWorld(t, func(o *settings) { o.ConsumerLimit = each + 1 })
	all := make([]*watcher, consumers)
	for n := range all {
		all[n] = w.watch(fmt.Sprintf("/q/a/c/%d", n))
	}
	s, err := w.b.Operate("/")
	must(t, err)
	body := make([][]byte, consumers*each)
	must(t, s.Do(&lists.Push{OnQueue: broker.OnQueue{Queue: "a"}, Bodies: body}))
	for _, x := range all { // they arrive when the messages are durable
		x.events(each)
	}
	for n := range all {
		if got := len(w.n.find([]byte("a"), []byte(fmt.Sprint(n))).holds()); got != each {
			t.Fatalf("consumer %d holds %d messages", n, got)
		}
	}
}
