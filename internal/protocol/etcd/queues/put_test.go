package queues

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc/codes"

	"fiveways.dev/fiveways/internal/broker/inspect"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// What was answered survives a crash: messages that were put, and acknowledgements.
func TestAnswersAreDurable(t *testing.T) {
	fs := vfs.NewMem()
	w := newWorldOn(t, fs, nil)
	x := w.watch("/q/a/c/w")
	batcher, done := w.batcher(w.who), make(answered, 1)
	for n := uint64(1); n <= 6; n++ {
		if n%2 == 0 {
			w.put(fmt.Sprintf("/q/a/p/%d", n), "v")
		} else if !batcher.StartPut(fmt.Appendf(nil, "/q/a/p/%d", n), []byte("v"), done) {
			t.Fatal("the batcher takes no put")
		} else {
			batcher.Flush()
			must(t, <-done)
		}
	}
	x.events(6)
	w.delete("/q/a/c/w/2/2")
	gone := make(chan bool, 1)
	if !batcher.StartDelete([]byte("/q/a/c/w/3/3"), acknowledged{func(ok bool) { gone <- ok }}) {
		t.Fatal("the batcher takes no delete")
	}
	batcher.Flush()
	if !<-gone {
		t.Fatal("not deleted")
	}
	again := newWorldOn(t, fs.CrashClone(rand.New(rand.NewPCG(1, 1))), nil)
	same(t, again.all("/q/a/"), "/q/a/"+i(1)+"/1=v", "/q/a/"+i(4)+"/4=v", "/q/a/"+i(5)+"/5=v", "/q/a/"+i(6)+"/6=v")
}

// Every message that is put counts as published directly to its queue.
func TestPutsAreCounted(t *testing.T) {
	w := newWorld(t, nil)
	w.put("/q/a/p/1", "v")
	batcher, done := w.batcher(w.who), make(answered, 1)
	if !batcher.StartPut([]byte("/q/a/p/2"), []byte("v"), done) {
		t.Fatal("the batcher takes no put")
	}
	batcher.Flush()
	must(t, <-done)
	_, err := w.txn(&pb.TxnRequest{Success: []*pb.RequestOp{putOp("/q/a/p/3")}})
	must(t, err)
	var s inspect.Sample
	must(t, inspect.NewSampler(w.b).Sample(&s))
	for _, q := range s.Queues {
		if q.Name == "a" && q.Counts.Direct == 3 {
			return
		}
	}
	t.Errorf("%+v", s.Queues)
}

// With the guarantee None a put is answered when the engine has the message, which is then visible
// at once.
func TestPutsAtOnce(t *testing.T) {
	w := newWorld(t, func(o *settings) { o.Guarantee = None })
	w.put("/q/a/p/1", "v")
	batcher, done := w.batcher(w.who), make(answered, 1)
	if !batcher.StartPut([]byte("/q/a/p/2"), []byte("v"), done) {
		t.Fatal("the batcher takes no put")
	}
	select {
	case <-done:
		t.Fatal("answered before the engine had it")
	default:
	}
	batcher.Flush()
	must(t, <-done)
	same(t, w.all("/q/a/"), "/q/a/"+i(1)+"/1=v", "/q/a/"+i(2)+"/2=v")
}

// A full queue refuses messages, and a queue that deduplicates by key accepts one message per key.
func TestPolicies(t *testing.T) {
	w := newWorld(t, nil)
	policy := catalog.DefaultQueuePolicy()
	policy.MaxLength, policy.Overflow = 1, catalog.RejectPublish
	_, err := w.who.Session.DeclareQueue(catalog.QueueSpec{Name: "full", Durable: true, Policy: policy})
	must(t, err)
	w.put("/q/full/p/k", "v")
	_, err = w.n.Put(context.Background(), w.who, &pb.PutRequest{Key: []byte("/q/full/p/k")})
	wantCode(t, err, codes.ResourceExhausted)
	batcher, done := w.batcher(w.who), make(answered, 1)
	batcher.StartPut([]byte("/q/full/p/k"), nil, done)
	batcher.Flush()
	wantCode(t, <-done, codes.ResourceExhausted)

	policy = catalog.DefaultQueuePolicy()
	policy.Deduplicate = true
	_, err = w.who.Session.DeclareQueue(catalog.QueueSpec{Name: "once", Durable: true, Policy: policy})
	must(t, err)
	for _, key := range []string{"k", "me/k", "l"} {
		w.put("/q/once/p/"+key, "v")
	}
	same(t, w.all("/q/once/0"), "/q/once/"+i(1)+"/k=v", "/q/once/"+i(2)+"/l=v")
}

// A batcher does not start what it cannot do at once.
func TestBatcherLeavesAlone(t *testing.T) {
	w := newWorld(t, nil)
	who := w.caller("guest")
	batcher, done := w.batcher(who), make(answered, 1)
	for _, key := range []string{"/q/new/p/k", "/q/new", "/q/new/c/w", "/q/new/1/k", "/q/new/p/" + string(make([]byte, 256))} {
		if batcher.StartPut([]byte(key), nil, done) {
			t.Errorf("the batcher takes %q", key)
		}
	}
	w.put("/q/a/p/k", "v")
	x := w.watch("/q/a/c/w")
	x.events(1)
	other := acknowledged{func(bool) { t.Error("it was answered") }}
	for _, key := range []string{"/q/a/c/w/1/l", "/q/a/c/w/2/k", "/q/a/c/x/1/k", "/q/a/c/w", "/q/a/1/k", "/q/a"} {
		if batcher.StartDelete([]byte(key), other) {
			t.Errorf("the batcher deletes %q", key)
		}
	}
	who.User = "somebody"
	if w.batcher(who).StartDelete([]byte("/q/a/c/w/1/k"), other) {
		t.Error("the batcher deletes what another user's consumer holds")
	}
	batcher.Flush()
	same(t, w.all("/q/a/"), "/q/a/"+i(1)+"/k=v", "/q/a/c/w=n1", "/q/a/c/w/"+i(1)+"/k=v")
}
