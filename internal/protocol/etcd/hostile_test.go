package etcd

import (
	"context"
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"

	"fiveways.dev/fiveways/internal/keyspace"
)

// directLog applies entries at once.
type directLog struct {
	mu    sync.Mutex
	store *keyspace.Store
	index uint64
}

func (l *directLog) Record(entry []byte) (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.index++
	l.store.Apply(l.index, entry)
	return l.index, nil
}

func (l *directLog) RecordAll(entries [][]byte, _ bool, done func(int, uint64, error)) {
	for i, entry := range entries {
		index, err := l.Record(entry)
		done(i, index, err)
	}
}

// hostile generates requests on few keys with all possible field values.
type hostile struct{ *rand.Rand }

func pick[T any](h hostile, of ...T) T { return of[h.IntN(len(of))] }

func (h hostile) key() []byte { return []byte(pick(h, "a", "b", "c", "d", "\x00", "\xff")) }

func (h hostile) end() []byte { return []byte(pick(h, "", "", "\x00", "a", "b", "c", "e", "\xff\xff")) }

func (h hostile) number() int64 {
	return pick(h, 0, 0, 0, 1, 2, h.Int64N(3000), -1, math.MinInt64, math.MaxInt64)
}

func (h hostile) get() *pb.RangeRequest {
	return &pb.RangeRequest{
		Key: h.key(), RangeEnd: h.end(), Limit: h.number(), Revision: h.number(), MinModRevision: h.number(), MaxCreateRevision: h.number(),
		SortOrder: pb.RangeRequest_SortOrder(h.IntN(4)), SortTarget: pb.RangeRequest_SortTarget(h.IntN(6)),
		KeysOnly: h.IntN(3) == 0, CountOnly: h.IntN(3) == 0,
	}
}

func (h hostile) put() *pb.PutRequest {
	p := &pb.PutRequest{Key: h.key(), PrevKv: h.IntN(2) == 0, IgnoreValue: h.IntN(2) == 0, IgnoreLease: h.IntN(2) == 0}
	if !p.IgnoreLease {
		p.Lease = h.number()
	}
	if !p.IgnoreValue {
		p.Value = []byte{1}
	}
	return p
}

func (h hostile) delete() *pb.DeleteRangeRequest {
	return &pb.DeleteRangeRequest{Key: h.key(), RangeEnd: h.end(), PrevKv: h.IntN(2) == 0}
}

func (h hostile) op(depth int) *pb.RequestOp {
	switch n := h.IntN(12); {
	case n < 3:
		return &pb.RequestOp{Request: &pb.RequestOp_RequestRange{RequestRange: h.get()}}
	case n < 6:
		return &pb.RequestOp{Request: &pb.RequestOp_RequestDeleteRange{RequestDeleteRange: h.delete()}}
	case n < 8 && depth < 4:
		return &pb.RequestOp{Request: &pb.RequestOp_RequestTxn{RequestTxn: h.txn(depth + 1)}}
	}
	return &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: h.put()}}
}

func (h hostile) txn(depth int) *pb.TxnRequest {
	r := &pb.TxnRequest{}
	for range h.IntN(2) {
		c := &pb.Compare{Key: h.key(), RangeEnd: h.end(), Target: pb.Compare_CompareTarget(h.IntN(7)), Result: pb.Compare_CompareResult(h.IntN(6))}
		c.TargetUnion = pick[func() *pb.Compare](h,
			func() *pb.Compare { return &pb.Compare{TargetUnion: &pb.Compare_Version{Version: h.number()}} },
			func() *pb.Compare { return &pb.Compare{TargetUnion: &pb.Compare_Value{Value: []byte{1}}} },
			func() *pb.Compare { return &pb.Compare{} },
		)().TargetUnion
		r.Compare = append(r.Compare, c)
	}
	for _, branch := range []*[]*pb.RequestOp{&r.Success, &r.Failure} {
		for range h.IntN(4) {
			*branch = append(*branch, h.op(depth))
		}
	}
	return r
}

// No request that passes the checks may crash etcd's code when it is applied: it would crash at
// every start from then on.
func TestNoRequestEndsTheStore(t *testing.T) {
	keys := keyspace.New(keyspace.Options{})
	log := &directLog{store: keys}
	if err := keys.Start(log); err != nil {
		t.Fatal(err)
	}
	defer keys.Close()
	h := hostile{rand.New(rand.NewPCG(7, 7))}
	ctx := context.Background()
	passed := 0
	for range 60_000 {
		var err error
		switch h.IntN(16) {
		case 0:
			_, err = keys.LeaseGrant(ctx, &pb.LeaseGrantRequest{ID: h.number(), TTL: h.number()})
		case 1:
			_, err = keys.LeaseRevoke(ctx, &pb.LeaseRevokeRequest{ID: h.number()})
		case 2:
			_, err = keys.Compact(ctx, &pb.CompactionRequest{Revision: h.number()})
		case 3:
			_, _, err = keys.HashKV(ctx, h.number())
		case 4, 5, 6:
			if r := h.put(); checkPut(r) == nil {
				_, err = keys.Put(ctx, r)
			}
		case 7:
			_, err = keys.DeleteRange(ctx, h.delete())
		default:
			r := h.txn(0)
			if err = checkTxn(r, 128); err == nil {
				_, err = keys.Txn(ctx, r)
			}
		}
		if err == nil {
			passed++
		}
	}
	if passed < 10_000 {
		t.Errorf("only %d requests were done", passed)
	}
}
