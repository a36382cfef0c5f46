package queues

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc/codes"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol/etcd/qkey"
)

// No key gives access to the exclusive queue of a session of another protocol.
func TestExclusiveQueuesOfOthers(t *testing.T) {
	w := newWorld(t, nil)
	other := w.caller("guest").Session
	_, err := other.DeclareQueue(catalog.QueueSpec{Name: "x", Exclusive: true, Policy: catalog.DefaultQueuePolicy()})
	must(t, err)
	targets, err := other.To([]byte("x"))
	must(t, err)
	path := qkey.Parse([]byte("/q/x/p/own"))
	p := newPublish(targets, &path, []byte("secret"), alone)
	done := make(confirmation, 1)
	p.Confirm = done
	other.Publish(&p)
	other.Flush()
	<-done

	for _, key := range []string{"/q/x", "/q/x/1/own", "/q/x/c/w", "/q/x/p/k"} {
		r, err := w.n.Range(w.who, &pb.RangeRequest{Key: []byte(key)})
		if err == nil && r.Count > 0 {
			t.Errorf("%s is read", key)
		}
		_, err = w.n.Put(context.Background(), w.who, &pb.PutRequest{Key: []byte(key)})
		wantCode(t, err, codes.PermissionDenied)
		_, err = w.n.DeleteRange(w.who, &pb.DeleteRangeRequest{Key: []byte(key)})
		wantCode(t, err, codes.PermissionDenied)
	}
	r, err := w.n.Range(w.who, &pb.RangeRequest{Key: []byte("/q/x/"), RangeEnd: []byte("/q/x0")})
	if err == nil && r.Count > 0 {
		t.Errorf("%v", r)
	}
	_, err = w.watchWith(w.who, &pb.WatchCreateRequest{Key: []byte("/q/x/c/w")})
	wantCode(t, err, codes.PermissionDenied)
	_, err = w.txn(&pb.TxnRequest{Success: []*pb.RequestOp{putOp("/q/x/p/k")}})
	wantCode(t, err, codes.PermissionDenied)
	answer := make(answered, 1)
	if d := w.batcher(w.who); d.StartPut([]byte("/q/x/p/k"), nil, answer) {
		d.Flush()
		wantCode(t, <-answer, codes.PermissionDenied)
	}
}

// A watch of a whole queue does not keep its consumers alive.
func TestLookingKeepsNoConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.put("/q/a/c/w", "")
		w.put("/q/a/p/k", "v")
		for range 4 {
			time.Sleep(DefaultConsumerIdle / 3)
			w.all("/q/")
			w.all("/q/a/c/")
			w.all("/q/a/c/w") // there may be others with the same prefix
		}
		synctest.Wait()
		same(t, w.all("/q/a"), "/q/a=n1", "/q/a/"+i(1)+"/k=v")
	})
}

// A watch must include all deliveries of a consumer, or it is refused: its events lie in its range.
func TestWatchesOfAPart(t *testing.T) {
	w := newWorld(t, nil)
	for _, r := range []*pb.WatchCreateRequest{
		{Key: []byte("/q/a/c/w/7/"), RangeEnd: []byte("/q/a/c/w/70")},
		{Key: []byte("/q/a/c/w/5/k"), RangeEnd: []byte("/q/a/c/w/9/k")},
		{Key: []byte("/q/a/c/w/"), RangeEnd: []byte("/q/a/c/w/00000000000000000009")},
		{Key: []byte("/q/a/c/w/x"), RangeEnd: []byte("/q/a/c/w/y")},
	} {
		_, err := w.watchWith(w.who, r)
		wantCode(t, err, codes.InvalidArgument)
	}
	same(t, w.all("/q/a"))
	for _, r := range []*pb.WatchCreateRequest{
		{Key: []byte("/q/a/c/w/"), RangeEnd: []byte("/q/a/c/w0")},
		{Key: []byte("/q/a/c/w"), RangeEnd: []byte("/q/a/c/x")},
	} {
		_, err := w.watchWith(w.who, r)
		must(t, err)
	}
}

// The prefix range of one consumer's name does not include another consumer whose name begins with
// it.
func TestNamesThatBeginAlike(t *testing.T) {
	w := newWorld(t, func(o *settings) { o.ConsumerLimit = 1 })
	two := w.watchAll("/q/a/c/me2")
	w.put("/q/a/p/1", "v")
	two.next(1)
	one := w.watchAll("/q/a/c/me")
	w.put("/q/a/p/2", "v")
	same(t, one.next(1), "/q/a/c/me/"+i(2)+"/2=v")
	if n := w.deleteAll("/q/a/c/me"); n != 2 { // its message and itself
		t.Errorf("deleted %d", n)
	}
	one.end()
	same(t, w.all("/q/a/c/me"), "/q/a/c/me2=n1", "/q/a/c/me2/"+i(1)+"/1=v")
}

// In a queue with priorities, too, revisions are positive, and a range that begins in the middle
// contains all keys after that.
func TestRangeOverPriorities(t *testing.T) {
	w := newWorld(t, nil)
	policy := catalog.DefaultQueuePolicy()
	policy.MaxPriority = 255
	_, err := w.who.Session.DeclareQueue(catalog.QueueSpec{Name: "a", Durable: true, Policy: policy})
	must(t, err)
	targets, err := w.who.Session.To([]byte("a"))
	must(t, err)
	for _, priority := range []uint8{0, 0, 200, 3} {
		path := qkey.Parse([]byte("/q/a/p/k"))
		p := newPublish(targets, &path, []byte("v"), alone)
		done := make(confirmation, 1)
		p.Priority, p.Confirm = priority, done
		w.who.Session.Publish(&p)
		w.who.Session.Flush()
		<-done
	}
	r, err := w.n.Range(w.who, &pb.RangeRequest{Key: []byte("/q/a/2/k"), RangeEnd: []byte("/q/a/:")})
	must(t, err)
	if len(r.Kvs) != 3 {
		t.Errorf("%q", texts(r.Kvs))
	}
	for _, kv := range r.Kvs {
		if kv.ModRevision <= 0 || kv.CreateRevision <= 0 {
			t.Errorf("%s has the revision %d", kv.Key, kv.ModRevision)
		}
	}
}

// A duplicate message does not make a transaction fail, and is not enqueued twice.
func TestTxnWithAMessageThatIsThere(t *testing.T) {
	w := newWorld(t, nil)
	policy := catalog.DefaultQueuePolicy()
	policy.Deduplicate, policy.DedupHeader = true, "x-deduplication-header"
	_, err := w.who.Session.DeclareQueue(catalog.QueueSpec{Name: "once", Durable: true, Policy: policy})
	must(t, err)
	w.put("/q/once/p/k", "v")
	r, err := w.txn(&pb.TxnRequest{Success: []*pb.RequestOp{putOp("/q/once/p/k"), putOp("/q/once/i/me/k"), putOp("/q/once/p/l"), putOp("/q/b/p/k")}})
	if err != nil || !r.Succeeded {
		t.Fatalf("%v, %v", r, err)
	}
	if all := w.all("/q/once/0"); len(all) != 2 {
		t.Errorf("%q", all)
	}
	if all := w.all("/q/b/0"); len(all) != 1 {
		t.Errorf("%q", all)
	}
}
