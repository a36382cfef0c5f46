package semkeys

import (
	"context"
	"errors"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/semaphores"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

func (w *world) putLeased(key string, lease int64) {
	w.t.Helper()
	_, err := w.n.Put(context.Background(), w.who, &pb.PutRequest{Key: []byte(key), Value: []byte("1"), Lease: lease})
	must(w.t, err)
}

// The end of a lease removes its tasks, if it still owns them.
func TestLeaseEnds(t *testing.T) {
	w := newWorld(t)
	w.leases.set(1, true)
	w.leases.set(2, true)
	w.put("/semaphore/a", `{"active":1}`)
	w.put("/semaphore/b", "")
	w.putLeased("/semaphore/a/x", 1)
	w.putLeased("/semaphore/a/y", 2)
	w.putLeased("/semaphore/b/x", 1)
	w.putLeased("/semaphore/b/moved", 1)
	w.putLeased("/semaphore/b/moved", 2)
	w.putLeased("/semaphore/b/freed", 1)
	w.put("/semaphore/b/freed", "1")
	x := w.watchAll("/semaphore/")
	w.leases.set(1, false)
	w.n.LeaseEnded(1)
	got := x.next(3)
	seen := map[string]bool{}
	for _, text := range got {
		seen[text] = true
	}
	if !seen["-/semaphore/a/x"] || !seen["-/semaphore/b/x"] || !seen["/semaphore/a/y=ACQUIRED 1"] {
		t.Errorf("events %q", got)
	}
	same(t, w.all("/semaphore/"), "/semaphore/a=1/900", "/semaphore/a/y=ACQUIRED 1", "/semaphore/b=1000/900", "/semaphore/b/freed=ACQUIRED 1", "/semaphore/b/moved=ACQUIRED 1")
}

// A lease that ended while the broker was down, or right after it was checked, ends its tasks as
// well.
func TestLeaseGoneAtStart(t *testing.T) {
	fs := vfs.NewMem()
	leases := &leaseSet{there: map[int64]bool{1: true, 2: true}}
	w := openWorld(t, fs, leases)
	w.put("/semaphore/a", "")
	w.putLeased("/semaphore/a/x", 1)
	w.putLeased("/semaphore/a/y", 2)
	w.close()
	leases.set(1, false)
	w = openWorld(t, fs, leases)
	x := w.watch(&pb.WatchCreateRequest{Key: []byte("/semaphore/a/x")})
	if w.ask(&pb.RangeRequest{Key: []byte("/semaphore/a/x")}).Count != 0 {
		same(t, x.next(1), "-/semaphore/a/x")
	}
	same(t, w.all("/semaphore/a/"), "/semaphore/a/y=ACQUIRED 1")
}

// TestLeaseKeys checks that a lease lists its tasks to callers that may read them, and that only a
// caller that may write all of them can end it.
func TestLeaseKeys(t *testing.T) {
	w := newWorld(t)
	w.leases.set(1, true)
	for _, key := range []string{"a", "b"} {
		w.put("/semaphore/"+key, "")
		w.putLeased("/semaphore/"+key+"/x", 1)
	}
	texts := func(who Caller) (all []string) {
		for _, key := range w.n.LeaseKeys(who, 1) {
			all = append(all, string(key))
		}
		return all
	}
	same(t, texts(w.who), "/semaphore/a/x", "/semaphore/b/x")
	reader, writer := w.user("reader", "", "", "^a$"), w.user("writer", "", "^a$", "")
	same(t, texts(reader), "/semaphore/a/x")
	same(t, texts(writer))
	same(t, texts(Caller{}))
	must(t, w.n.MayEndLease(w.who, 1))
	refused(t, w.n.MayEndLease(writer, 1), "PermissionDenied: etcdserver: permission denied")
	refused(t, w.n.MayEndLease(Caller{}, 1), "PermissionDenied: etcdserver: permission denied")
	must(t, w.n.MayEndLease(Caller{}, 2))
	w.delete("/semaphore/b/x")
	must(t, w.n.MayEndLease(writer, 1))
	same(t, texts(w.who), "/semaphore/a/x")
}

// TestLeaseOfOtherVHost checks that a task in another virtual host whose owner has the number of a
// lease does not belong to that lease.
func TestLeaseOfOtherVHost(t *testing.T) {
	w := newWorld(t)
	w.leases.set(1, true)
	_, err := w.b.PutVHost(catalog.VHostSpec{Name: "other"})
	must(t, err)
	_, err = w.b.SetPermission(catalog.Permission{User: "guest", VHost: "other", Configure: ".*", Write: ".*", Read: ".*"})
	must(t, err)
	other, err := w.b.NewSession(broker.SessionOptions{User: "guest", VHost: "other"})
	must(t, err)
	of := semaphores.Of{Key: "s"}
	create := semaphores.Create{Of: of}
	enqueue := semaphores.Enqueue{Of: of, Entries: []semaphores.Entry{{Task: "x", Owner: 1}}}
	must(t, w.m.Do(other, &create, &enqueue))
	must(t, errors.Join(create.Err, enqueue.Err))
	if keys := w.n.LeaseKeys(w.who, 1); len(keys) > 0 {
		t.Errorf("the lease has %s", keys)
	}
	must(t, w.n.MayEndLease(w.user("nobody", "", "", ""), 1))
}

// TestLeaseWithAnEarlierID checks that the end of a lease does not remove the tasks of a later
// lease with its ID, and that a revoke can wait for the removal.
func TestLeaseWithAnEarlierID(t *testing.T) {
	w := newWorld(t)
	w.leases.set(1, true)
	w.put("/semaphore/a", "")
	for range 100 {
		w.putLeased("/semaphore/a/old", 1)
		w.n.LeaseEnded(1)
		w.putLeased("/semaphore/a/new", 1) // it was granted again
		w.n.AwaitLeaseEnd(t.Context(), 1)
		same(t, w.all("/semaphore/a/"), "/semaphore/a/new=ACQUIRED 1")
		w.n.LeaseEnded(1)
		w.n.AwaitLeaseEnd(t.Context(), 1)
		same(t, w.all("/semaphore/a/"))
	}
}
