package semkeys

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"fiveways.dev/fiveways/internal/protocol/etcd/virtual"
)

// hostile generates requests with odd keys, values and bounds.
type hostile struct{ *rand.Rand }

func (h hostile) key() []byte {
	keys := []string{
		"/semaphore/", "/semaphore//", "/semaphore//t", "/semaphore/s", "/semaphore/s/", "/semaphore/s/t", "/semaphore/s/t/u", "/semaphore/\xff", "/semaphore/\xff/\xff",
		"/semaphore/\x00", "/semaphore/s/\x00", "/semaphore/s\xff\xff/", "/semaphore/z", "/semaphore/z/1", "/semaphore/z/2", "/semaphore/é/ü",
	}
	return []byte(keys[h.IntN(len(keys))])
}

func (h hostile) end() []byte {
	switch h.IntN(4) {
	case 0:
		return []byte{0}
	case 1:
		return h.key()
	case 2:
		return prefixEnd(string(h.key()))
	}
	return nil
}

func (h hostile) value() []byte {
	values := []string{
		"", "1", "-0", "1e308", "1e309", "NaN", "0x1p4", "{", "{}", "null", `{"priority":null}`, `{"priority":1e999}`, `{"priority":"1"}`, `{"priority":1}`, `{"active":1}`,
		`{"active":1.5}`, `{"active":99999999999}`, `{"try_release":0}`, `{"order":"asc"}`, `{"lease":-1}`, `{"lease":9223372036854775807}`, `[1]`, "\xff", `{"active":1}{}`,
	}
	return []byte(values[h.IntN(len(values))])
}

func (h hostile) number() int64 {
	return []int64{0, 0, 1, -1, 7, math.MaxInt64, math.MinInt64, 1 << 40}[h.IntN(8)]
}

func (h hostile) compare() *pb.Compare {
	c := &pb.Compare{Key: h.key(), RangeEnd: h.end(), Target: pb.Compare_CompareTarget(h.IntN(7) - 1), Result: pb.Compare_CompareResult(h.IntN(6) - 1)}
	switch h.IntN(4) {
	case 0:
		c.TargetUnion = &pb.Compare_Value{Value: h.value()}
	case 1:
		c.TargetUnion = &pb.Compare_Version{Version: h.number()}
	case 2:
		c.TargetUnion = &pb.Compare_ModRevision{ModRevision: h.number()}
	}
	return c
}

func (h hostile) put() *pb.PutRequest {
	return &pb.PutRequest{
		Key: h.key(), Value: h.value(), Lease: h.number(), PrevKv: h.IntN(2) == 0, IgnoreValue: h.IntN(4) == 0, IgnoreLease: h.IntN(4) == 0,
	}
}

func (h hostile) delete() *pb.DeleteRangeRequest {
	return &pb.DeleteRangeRequest{Key: h.key(), RangeEnd: h.end(), PrevKv: h.IntN(2) == 0}
}

func (h hostile) read() *pb.RangeRequest {
	return &pb.RangeRequest{
		Key: h.key(), RangeEnd: h.end(), Limit: h.number(), Revision: h.number(), SortOrder: pb.RangeRequest_SortOrder(h.IntN(3)), SortTarget: pb.RangeRequest_SortTarget(h.IntN(5)),
		KeysOnly: h.IntN(2) == 0, CountOnly: h.IntN(4) == 0, MinModRevision: h.number(), MaxCreateRevision: h.number(),
	}
}

func (h hostile) op() *pb.RequestOp {
	switch h.IntN(3) {
	case 0:
		return &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: h.put()}}
	case 1:
		return &pb.RequestOp{Request: &pb.RequestOp_RequestDeleteRange{RequestDeleteRange: h.delete()}}
	}
	return &pb.RequestOp{Request: &pb.RequestOp_RequestRange{RequestRange: h.read()}}
}

func (h hostile) txn() *pb.TxnRequest {
	return &pb.TxnRequest{Compare: []*pb.Compare{h.compare()}, Success: []*pb.RequestOp{h.op(), h.op()}, Failure: []*pb.RequestOp{h.op()}}
}

// Every request gets an answer that clients know, and leaves nothing behind.
func TestHostile(t *testing.T) {
	w := newWorld(t)
	w.leases.set(7, true)
	txns := &virtual.Txns{Base: w.n.Base, Semaphores: w.m, Families: []virtual.Family{w.n}}
	h := hostile{rand.New(rand.NewPCG(3, 3))}
	done := 0
	for range 20_000 {
		var err error
		switch h.IntN(6) {
		case 0, 1:
			_, err = w.n.Put(context.Background(), w.who, h.put())
		case 2:
			_, err = w.n.DeleteRange(w.who, h.delete())
		case 3:
			_, err = w.n.Range(w.who, h.read())
		case 4:
			var x *watcher
			if x, err = w.watchAs(w.who, &pb.WatchCreateRequest{Key: h.key(), RangeEnd: h.end(), StartRevision: max(0, h.number()), PrevKv: true}); err == nil {
				x.Take()
				x.Close()
			}
		default:
			_, err = txns.Do(t.Context(), w.who, h.txn(), func() error { return nil })
		}
		if code := status.Code(err); code == codes.Unknown || code == codes.Internal || code == codes.Aborted {
			t.Fatal(err)
		}
		if err == nil {
			done++
		}
	}
	if done < 4000 {
		t.Errorf("only %d requests were done", done)
	}
	if n := len(w.n.feed.exact) + len(w.n.feed.ranges) + len(w.n.feed.spanning); n != 0 {
		t.Errorf("%d watches are left", n)
	}
}
