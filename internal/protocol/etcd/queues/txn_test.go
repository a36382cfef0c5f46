package queues

import (
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc/codes"

	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
)

func (w *world) txn(r *pb.TxnRequest) (*pb.TxnResponse, error) {
	x := &virtual.Txns{Base: w.n.Base, Families: []virtual.Family{w.n}}
	return x.Do(w.t.Context(), w.who, r, func() error { return nil })
}

func putOp(key string) *pb.RequestOp {
	return &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: &pb.PutRequest{Key: []byte(key), Value: []byte("v")}}}
}

func deleteOp(key, end string) *pb.RequestOp {
	r := &pb.DeleteRangeRequest{Key: []byte(key), RangeEnd: []byte(end), PrevKv: true}
	return &pb.RequestOp{Request: &pb.RequestOp_RequestDeleteRange{RequestDeleteRange: r}}
}

func exists(key string) *pb.Compare {
	return &pb.Compare{
		Key: []byte(key), Target: pb.Compare_VERSION, Result: pb.Compare_GREATER, TargetUnion: &pb.Compare_Version{Version: 0},
	}
}

// A transaction that cannot do everything does nothing, and the deliveries that it would have
// deleted are held as before.
func TestTxnRefused(t *testing.T) {
	w := newWorld(t, nil)
	policy := catalog.DefaultQueuePolicy()
	policy.MaxLength, policy.Overflow = 1, catalog.RejectPublish
	_, err := w.who.Session.DeclareQueue(catalog.QueueSpec{Name: "full", Durable: true, Policy: policy})
	must(t, err)
	x := w.watch("/q/a/c/w")
	w.put("/q/a/p/k", "v")
	x.events(1)
	before := w.all("/q/a/")
	_, err = w.txn(&pb.TxnRequest{Success: []*pb.RequestOp{
		deleteOp("/q/a/c/w/", "/q/a/c/w0"), putOp("/q/full/p/1"), putOp("/q/b/p/1"), putOp("/q/full/p/2"),
	}})
	wantCode(t, err, codes.ResourceExhausted)
	same(t, w.get("/q/full/1/1", ""))
	same(t, w.all("/q/b/"))
	for _, op := range []*pb.RequestOp{
		putOp("/q/a/c/x"), putOp("/q/a"), putOp("/q/a/1/k"), deleteOp("/q/a", ""), deleteOp("/q/a/c/w", ""), deleteOp("/q/a/1/k", ""), deleteOp("/q/a/", "/q/a0"),
	} {
		inner := &pb.RequestOp{Request: &pb.RequestOp_RequestTxn{RequestTxn: &pb.TxnRequest{Failure: []*pb.RequestOp{op}}}}
		_, err := w.txn(&pb.TxnRequest{Success: []*pb.RequestOp{inner}})
		wantCode(t, err, codes.InvalidArgument)
	}
	same(t, w.all("/q/a/"), before...)
	if n := w.delete("/q/a/c/w/1/k"); n != 1 {
		t.Fatalf("deleted %d", n)
	}
}

// Nested transactions are decided by the state before, and all chosen operations are atomic.
func TestTxnNested(t *testing.T) {
	w := newWorld(t, nil)
	x := w.watchAll("/q/a/c/w/")
	w.put("/q/a/p/1", "v")
	w.put("/q/a/p/2", "v")
	key := "/q/a/c/w/" + i(1) + "/1"
	x.next(2)
	inner := &pb.TxnRequest{
		Compare: []*pb.Compare{exists("/q/a/c/w/1/1"), exists("/q/a/2/2"), exists("/q/a/c/w"), exists("/q/a")},
		Success: []*pb.RequestOp{deleteOp(key, ""), putOp("/q/b/p/1")},
		Failure: []*pb.RequestOp{putOp("/q/b/p/wrong")},
	}
	get := &pb.RequestOp{Request: &pb.RequestOp_RequestRange{RequestRange: &pb.RangeRequest{Key: []byte("/q/a/0"), RangeEnd: []byte("/q/a/1")}}}
	r, err := w.txn(&pb.TxnRequest{
		Compare: []*pb.Compare{exists("/q/a/c/w/3/3")},
		Success: []*pb.RequestOp{putOp("/q/b/p/wrong")},
		Failure: []*pb.RequestOp{{Request: &pb.RequestOp_RequestTxn{RequestTxn: inner}}, get, deleteOp(key, "")},
	})
	must(t, err)
	nested := r.Responses[0].GetResponseTxn()
	if r.Succeeded || !nested.Succeeded || nested.Responses[0].GetResponseDeleteRange().Deleted != 1 ||
		r.Responses[2].GetResponseDeleteRange().Deleted != 0 || len(r.Responses[1].GetResponseRange().Kvs) != 2 || r.Header.Revision == 0 {
		t.Fatalf("got %v", r)
	}
	same(t, texts(nested.Responses[0].GetResponseDeleteRange().PrevKvs), key+"=v")
	same(t, x.next(1), "-"+key)
	same(t, w.all("/q/a/0"), "/q/a/"+i(2)+"/2=v")
	same(t, w.all("/q/b/"), "/q/b/"+i(1)+"/1=v")
}

// A delivery that another request has claimed counts as missing.
func TestTxnOnWhatIsClaimed(t *testing.T) {
	w := newWorld(t, nil)
	x := w.watch("/q/a/c/w")
	w.put("/q/a/p/k", "v")
	x.events(1)
	c := w.n.find([]byte("a"), []byte("w"))
	h, _ := c.claimOne(1, []byte("k"))
	take := &pb.TxnRequest{
		Compare: []*pb.Compare{exists("/q/a/c/w/1/k")}, Success: []*pb.RequestOp{deleteOp("/q/a/c/w/1/k", ""), putOp("/q/b/p/1")},
	}
	r, err := w.txn(take)
	must(t, err)
	if r.Succeeded {
		t.Fatal("it took what another has claimed")
	}
	c.unclaim([]hold{h})
	if r, err = w.txn(take); err != nil || !r.Succeeded {
		t.Fatalf("%v %v", r, err)
	}
	same(t, w.all("/q/b/"), "/q/b/"+i(1)+"/1=v")
}
