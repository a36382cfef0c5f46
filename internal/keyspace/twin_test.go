package keyspace

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/server/v3/etcdserver/api/membership"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3alarm"
	"go.etcd.io/etcd/server/v3/etcdserver/apply"
	"go.etcd.io/etcd/server/v3/etcdserver/txn"
	"go.etcd.io/etcd/server/v3/lease"
	etcdbackend "go.etcd.io/etcd/server/v3/storage/backend"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.uber.org/zap"
	"google.golang.org/protobuf/proto"
)

// reference is etcd's own state machine on etcd's own backend, a bbolt file.
type reference struct {
	kv      mvcc.WatchableKV
	applier apply.UberApplier
}

func newReference(t *testing.T) *reference {
	t.Helper()
	lg := zap.NewNop()
	cfg := etcdbackend.DefaultBackendConfig(lg)
	cfg.Path = filepath.Join(t.TempDir(), "db")
	cfg.UnsafeNoFsync = true
	be := etcdbackend.New(cfg)
	le := lease.NewLessor(lg, be, version{}, lease.LessorConfig{MinLeaseTTL: defaultMinLeaseTTL})
	r := &reference{kv: withLeases{mvcc.New(lg, be, le, mvcc.StoreConfig{})}}
	alarms, err := v3alarm.NewAlarmStore(lg, schema.NewAlarmBackend(lg, be))
	if err != nil {
		t.Fatal(err)
	}
	r.applier = apply.NewUberApplier(apply.ApplierOptions{
		Logger: lg, KV: r.kv, AlarmStore: alarms, AuthStore: everybody{}, Lessor: le, Cluster: membership.NewCluster(lg),
		RaftStatus: status{&Store{}}, TxnModeWriteWithSharedBuffer: true, Backend: be, WarningApplyDuration: slowApply,
	})
	t.Cleanup(func() {
		le.Stop()
		_ = r.kv.Close()
		_ = be.Close()
	})
	return r
}

func (r *reference) do(x *pb.InternalRaftRequest) *Result {
	return r.applier.Apply(&apply.InternalRaftRequestWrapper{InternalRaftRequest: proto.Clone(x).(*pb.InternalRaftRequest)}, membership.ApplyBoth)
}

// ops makes random requests on few keys, so that they conflict.
type ops struct {
	rng       *rand.Rand
	rev       int64 // the latest known revision
	compacted int64
	leases    []int64
}

func (o *ops) key() []byte { return fmt.Appendf(nil, "k%02d", o.rng.IntN(40)) }

func (o *ops) span() (key, end []byte) {
	switch key = o.key(); o.rng.IntN(4) {
	case 0:
		return key, o.key()
	case 1:
		return key, []byte{0}
	default:
		return key, nil
	}
}

func (o *ops) lease() int64 {
	if len(o.leases) == 0 || o.rng.IntN(3) > 0 {
		return 0
	}
	return o.leases[o.rng.IntN(len(o.leases))]
}

func (o *ops) put() *pb.PutRequest {
	p := &pb.PutRequest{Key: o.key(), Value: bytes.Repeat([]byte{'v'}, o.rng.IntN(3000)), Lease: o.lease(), PrevKv: o.rng.IntN(3) == 0}
	if o.rng.IntN(8) == 0 {
		p.Value, p.IgnoreValue = nil, true
	}
	return p
}

func (o *ops) delete() *pb.DeleteRangeRequest {
	d := &pb.DeleteRangeRequest{PrevKv: o.rng.IntN(3) == 0}
	d.Key, d.RangeEnd = o.span()
	return d
}

func (o *ops) get() *pb.RangeRequest {
	r := &pb.RangeRequest{
		Limit:      int64(o.rng.IntN(6)),
		SortOrder:  pb.RangeRequest_SortOrder(o.rng.IntN(3)),
		SortTarget: pb.RangeRequest_SortTarget(o.rng.IntN(5)),
		KeysOnly:   o.rng.IntN(5) == 0,
		CountOnly:  o.rng.IntN(9) == 0,
	}
	r.Key, r.RangeEnd = o.span()
	if o.rng.IntN(3) == 0 {
		r.Revision = max(o.rev-o.rng.Int64N(30)+2, 0)
	}
	if o.rng.IntN(6) == 0 {
		r.MinModRevision, r.MaxCreateRevision = o.rng.Int64N(o.rev+1), o.rng.Int64N(o.rev+1)
	}
	return r
}

func (o *ops) txn() *pb.TxnRequest {
	t := &pb.TxnRequest{Compare: []*pb.Compare{{
		Key: o.key(), Target: pb.Compare_VERSION, Result: pb.Compare_CompareResult(o.rng.IntN(4)),
		TargetUnion: &pb.Compare_Version{Version: o.rng.Int64N(3)},
	}}}
	for _, branch := range []*[]*pb.RequestOp{&t.Success, &t.Failure} {
		put := map[string]bool{} // no key twice: the server refuses that before
		for range o.rng.IntN(4) {
			switch p := o.put(); {
			case o.rng.IntN(3) == 0:
				*branch = append(*branch, &pb.RequestOp{Request: &pb.RequestOp_RequestRange{RequestRange: o.get()}})
			case !put[string(p.Key)]:
				put[string(p.Key)] = true
				*branch = append(*branch, &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: p}})
			}
		}
	}
	return t
}

// change returns a random change, which is sometimes invalid.
func (o *ops) change() *pb.InternalRaftRequest {
	switch o.rng.IntN(24) {
	case 0, 1, 2:
		return &pb.InternalRaftRequest{DeleteRange: o.delete()}
	case 3, 4, 5, 6:
		return &pb.InternalRaftRequest{Txn: o.txn()}
	case 7:
		id := 1 + o.rng.Int64N(20)
		o.leases = append(o.leases, id)
		return &pb.InternalRaftRequest{LeaseGrant: &pb.LeaseGrantRequest{ID: id, TTL: o.rng.Int64N(1e6)}}
	case 8:
		return &pb.InternalRaftRequest{LeaseRevoke: &pb.LeaseRevokeRequest{ID: 1 + o.rng.Int64N(20)}}
	case 9:
		o.compacted = max(o.rev-o.rng.Int64N(40), o.compacted-2)
		return &pb.InternalRaftRequest{Compaction: &pb.CompactionRequest{Revision: o.compacted}}
	default:
		return &pb.InternalRaftRequest{Put: o.put()}
	}
}

// same compares two results as seen by their callers.
func same(a, b *Result) bool {
	if (a.Err == nil) != (b.Err == nil) || a.Err != nil && a.Err.Error() != b.Err.Error() {
		return false
	}
	x, _ := a.Resp.(interface{ GetHeader() *pb.ResponseHeader })
	y, _ := b.Resp.(interface{ GetHeader() *pb.ResponseHeader })
	if a.Err != nil || x == nil {
		return true
	}
	for _, h := range []*pb.ResponseHeader{x.GetHeader(), y.GetHeader()} {
		if h != nil {
			h.ClusterId, h.MemberId, h.RaftTerm = 0, 0, 0
		}
	}
	return proto.Equal(a.Resp, b.Resp)
}

func settled(x *Result) {
	if x.Physc != nil {
		<-x.Physc
	}
}

func hashKV(t *testing.T, kv mvcc.KV) mvcc.KeyValueHash {
	t.Helper()
	h, _, err := kv.HashStorage().HashByRev(0)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// The same random requests to the store and to etcd's own state machine give the same answers,
// errors and hashes. So do a store restored from a dump and the later entries, and one restored
// from all entries, with or without compactions in the meantime.
func TestTwinOfEtcd(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { twinRun(t, seed, 1500) })
	}
}

func twinRun(t *testing.T, seed uint64, n int) {
	s, log := open(t, Options{Folder: t.TempDir()})
	ref := newReference(t)
	o := &ops{rng: rand.New(rand.NewPCG(seed, 2))}
	var dump bytes.Buffer
	dumped := 0
	for i := range n {
		o.rev = s.KV().Rev()
		if i%3 == 0 {
			compareRead(t, s, ref, o.get())
			continue
		}
		r := o.change()
		want := ref.do(r)
		got, err := s.Propose(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		if !same(got, want) {
			t.Fatalf("operation %d %v:\n%v %v\nwant\n%v %v", i, r, got.Resp, got.Err, want.Resp, want.Err)
		}
		if o.rng.IntN(2) == 0 {
			settled(got)
			settled(want)
		}
		if o.rng.IntN(n/4) == 0 {
			dump.Reset()
			_, write := s.Freeze()
			if err := write(&dump); err != nil {
				t.Fatal(err)
			}
			dumped = len(log.entries)
		}
	}
	want := hashKV(t, ref.kv)
	if got := hashKV(t, s.KV()); got != want {
		t.Fatalf("%+v, want %+v", got, want)
	}
	for name, again := range map[string]*Store{"dump": restored(t, &dump, log, dumped), "log": restored(t, nil, log, 0)} {
		sameState(t, name, again, s)
	}
}

func compareRead(t *testing.T, s *Store, ref *reference, r *pb.RangeRequest) {
	t.Helper()
	ctx := context.Background()
	got, err := s.Range(ctx, proto.Clone(r).(*pb.RangeRequest))
	want, _, wantErr := txn.Range(ctx, zap.NewNop(), ref.kv, r, true)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) || err == nil && !proto.Equal(got, want) {
		t.Fatalf("%v: %v %v, want %v %v", r, got, err, want, wantErr)
	}
}

// restored restores a store from a dump, or from nothing, and the later entries.
func restored(t *testing.T, dump *bytes.Buffer, log *fakeLog, from int) *Store {
	t.Helper()
	s := New(Options{})
	t.Cleanup(func() { _ = s.Close() })
	if dump != nil && dump.Len() > 0 {
		if err := s.Restore(dump); err != nil {
			t.Fatal(err)
		}
	}
	log.replay(t, s, from)
	return s
}

// sameState compares two stores: keys with their history, leases with their keys, alarms, identity.
func sameState(t *testing.T, name string, got, want *Store) {
	t.Helper()
	if g, w := hashKV(t, got.KV()), hashKV(t, want.KV()); g != w {
		t.Errorf("%s: %+v, want %+v", name, g, w)
	}
	if got.Header().String() != want.Header().String() || got.Index() != want.Index() {
		t.Errorf("%s: %v at %d, want %v at %d", name, got.Header(), got.Index(), want.Header(), want.Index())
	}
	if fmt.Sprint(got.Alarms()) != fmt.Sprint(want.Alarms()) {
		t.Errorf("%s: alarms %v, want %v", name, got.Alarms(), want.Alarms())
	}
	if g, w := leasesOf(got), leasesOf(want); fmt.Sprint(g) != fmt.Sprint(w) {
		t.Errorf("%s: leases %v, want %v", name, g, w)
	}
	if g, w := allOf(t, got), allOf(t, want); !proto.Equal(g, w) {
		t.Errorf("%s: %v, want %v", name, g, w)
	}
}

func leasesOf(s *Store) map[lease.LeaseID]string {
	all := map[lease.LeaseID]string{}
	for _, l := range s.Lessor().Leases() {
		keys := map[string]bool{}
		for _, k := range l.Keys() {
			keys[k] = true
		}
		all[l.ID] = fmt.Sprint(l.TTL(), keys)
	}
	return all
}

func allOf(t *testing.T, s *Store) *pb.RangeResponse {
	t.Helper()
	answer, err := s.Range(context.Background(), &pb.RangeRequest{Key: []byte{0}, RangeEnd: []byte{0}})
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range answer.Kvs {
		if kv.Version == 0 {
			t.Errorf("a deleted key is there: %v", &mvccpb.KeyValue{Key: kv.Key})
		}
	}
	return answer
}
