package etcd

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestPutAndGet(t *testing.T) {
	n := newNode(t, Options{})
	c := dial(t, n.addr)
	put, err := c.Put(t.Context(), "a", "1")
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Get(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Kvs) != 1 || string(got.Kvs[0].Value) != "1" || got.Kvs[0].ModRevision != put.Header.Revision || put.Header.Revision != 2 {
		t.Errorf("put %v, got %v", put, got)
	}
	if h := got.Header; h.ClusterId == 0 || h.MemberId == 0 || h.RaftTerm == 0 {
		t.Errorf("header %v", h)
	}
}

func TestCompareAndSwap(t *testing.T) {
	c := dial(t, newNode(t, Options{}).addr)
	swap := func(from, to string) bool {
		t.Helper()
		r, err := c.Txn(t.Context()).If(clientv3.Compare(clientv3.Value("a"), "=", from)).Then(clientv3.OpPut("a", to)).Else(clientv3.OpGet("a")).Commit()
		if err != nil {
			t.Fatal(err)
		}
		return r.Succeeded
	}
	if _, err := c.Put(t.Context(), "a", "1"); err != nil {
		t.Fatal(err)
	}
	if !swap("1", "2") || swap("1", "3") {
		t.Error("the value that was compared is not the one that decided")
	}
	if r, err := c.Delete(t.Context(), "a", clientv3.WithPrevKV()); err != nil || r.Deleted != 1 || string(r.PrevKvs[0].Value) != "2" {
		t.Errorf("%v, %v", r, err)
	}
}

func putOp(key string) *pb.RequestOp {
	return &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: &pb.PutRequest{Key: []byte(key)}}}
}

func deleteOp(key, end string) *pb.RequestOp {
	return &pb.RequestOp{Request: &pb.RequestOp_RequestDeleteRange{RequestDeleteRange: &pb.DeleteRangeRequest{Key: []byte(key), RangeEnd: []byte(end)}}}
}

func txnOp(success, failure []*pb.RequestOp) *pb.RequestOp {
	return &pb.RequestOp{Request: &pb.RequestOp_RequestTxn{RequestTxn: &pb.TxnRequest{Success: success, Failure: failure}}}
}

// keepOp returns a put that keeps the value.
func keepOp(key string) *pb.RequestOp {
	return &pb.RequestOp{Request: &pb.RequestOp_RequestPut{RequestPut: &pb.PutRequest{Key: []byte(key), IgnoreValue: true}}}
}

func ops(op ...*pb.RequestOp) []*pb.RequestOp { return op }

// Requests that etcd refuses before it looks at a key are refused here with the same code and text.
func TestWrongRequests(t *testing.T) {
	n := newNode(t, Options{})
	c := dial(t, n.addr)
	kv := pb.NewKVClient(c.ActiveConnection())
	txn := func(success ...*pb.RequestOp) func() error {
		return func() error { _, err := kv.Txn(t.Context(), &pb.TxnRequest{Success: success}); return err }
	}
	many := func(n int) (all []*pb.RequestOp) {
		for i := range n {
			all = append(all, putOp(fmt.Sprintf("k%d", i)))
		}
		return all
	}
	put := func(r *pb.PutRequest) func() error {
		return func() error { _, err := kv.Put(t.Context(), r); return err }
	}
	get := func(r *pb.RangeRequest) func() error {
		return func() error { _, err := kv.Range(t.Context(), r); return err }
	}
	a := []byte("a")
	for name, tc := range map[string]struct {
		do   func() error
		want error
	}{
		"get no key":         {get(&pb.RangeRequest{}), rpctypes.ErrGRPCEmptyKey},
		"get wrong order":    {get(&pb.RangeRequest{Key: a, SortOrder: 9}), rpctypes.ErrGRPCInvalidSortOption},
		"get wrong target":   {get(&pb.RangeRequest{Key: a, SortTarget: 9}), rpctypes.ErrGRPCInvalidSortOption},
		"get the future":     {get(&pb.RangeRequest{Key: a, Revision: 1 << 40}), rpctypes.ErrGRPCFutureRev},
		"put no key":         {put(&pb.PutRequest{}), rpctypes.ErrGRPCEmptyKey},
		"put value ignored":  {put(&pb.PutRequest{Key: a, Value: a, IgnoreValue: true}), rpctypes.ErrGRPCValueProvided},
		"put lease ignored":  {put(&pb.PutRequest{Key: a, Lease: 1, IgnoreLease: true}), rpctypes.ErrGRPCLeaseProvided},
		"put no lease":       {put(&pb.PutRequest{Key: a, Lease: 1}), rpctypes.ErrGRPCLeaseNotFound},
		"put ignores naught": {put(&pb.PutRequest{Key: []byte("never"), IgnoreValue: true}), rpctypes.ErrGRPCKeyNotFound},
		"put too large":      {put(&pb.PutRequest{Key: a, Value: make([]byte, 1536<<10)}), rpctypes.ErrGRPCRequestTooLarge},
		"put far too large": {put(&pb.PutRequest{Key: a, Value: make([]byte, 2<<20)}),
			status.Error(codes.ResourceExhausted, "grpc: received message larger than max (2097160 vs. 2097152)")},
		"role with a long name": {func() error {
			_, err := pb.NewAuthClient(c.ActiveConnection()).RoleAdd(t.Context(), &pb.AuthRoleAddRequest{Name: strings.Repeat("r", 40_000)})
			return err
		}, rpctypes.ErrGRPCRequestTooLarge},
		"delete no key":            {func() error { _, err := kv.DeleteRange(t.Context(), &pb.DeleteRangeRequest{}); return err }, rpctypes.ErrGRPCEmptyKey},
		"compact the future":       {func() error { _, err := kv.Compact(t.Context(), &pb.CompactionRequest{Revision: 1 << 40}); return err }, rpctypes.ErrGRPCFutureRev},
		"compare no key":           {func() error { _, err := kv.Txn(t.Context(), &pb.TxnRequest{Compare: []*pb.Compare{{}}}); return err }, rpctypes.ErrGRPCEmptyKey},
		"txn of too many":          {txn(many(129)...), rpctypes.ErrGRPCTooManyOps},
		"txn of as many":           {txn(many(128)...), nil},
		"txn of too many inside":   {txn(putOp("a"), txnOp(many(127), nil)), rpctypes.ErrGRPCTooManyOps},
		"txn of nothing":           {txn(&pb.RequestOp{}), rpctypes.ErrGRPCKeyNotFound},
		"txn puts twice":           {txn(putOp("a"), putOp("a")), rpctypes.ErrGRPCDuplicateKey},
		"txn puts and deletes":     {txn(putOp("a"), deleteOp("a", "")), rpctypes.ErrGRPCDuplicateKey},
		"txn puts into a deleted":  {txn(putOp("b"), deleteOp("a", "c")), rpctypes.ErrGRPCDuplicateKey},
		"txn puts beside deleted":  {txn(putOp("c"), deleteOp("a", "c")), nil},
		"txn puts in both":         {txn(txnOp(ops(putOp("a")), ops(putOp("a")))), nil},
		"txn puts in and out":      {txn(putOp("a"), txnOp(nil, ops(putOp("a")))), rpctypes.ErrGRPCDuplicateKey},
		"txn puts in two inside":   {txn(txnOp(ops(putOp("a")), nil), txnOp(ops(putOp("a")), nil)), rpctypes.ErrGRPCDuplicateKey},
		"txn deletes in, puts out": {txn(putOp("a"), txnOp(ops(deleteOp("a", "")), nil)), rpctypes.ErrGRPCDuplicateKey},
		"txn deletes twice":        {txn(deleteOp("a", ""), deleteOp("a", "")), nil},
		"txn deletes all, puts":    {txn(deleteOp("x", "\x00"), putOp("x")), nil},
		"txn deletes all, keeps":   {txn(deleteOp("x", "\x00"), keepOp("x1")), rpctypes.ErrGRPCDuplicateKey}, // crashes etcd
		"txn deletes in, keeps":    {txn(txnOp(nil, ops(deleteOp("x", "\x00"))), txnOp(ops(keepOp("x1")), nil)), rpctypes.ErrGRPCDuplicateKey},
		"txn keeps in, deletes":    {txn(txnOp(ops(keepOp("x1")), nil), deleteOp("x", "\x00")), rpctypes.ErrGRPCDuplicateKey},
		"txn keeps before deleted": {txn(deleteOp("x", "\x00"), keepOp("w")), rpctypes.ErrGRPCKeyNotFound},
	} {
		err := tc.do()
		if status.Code(err) != status.Code(tc.want) || status.Convert(err).Message() != status.Convert(tc.want).Message() {
			t.Errorf("%s: %v, want %v", name, err, tc.want)
		}
	}
}

// The quota is enforced with etcd's error. The alarm is raised, and can be resolved.
func TestQuota(t *testing.T) {
	n := newNodeWithQuota(t, 64<<10)
	c := dial(t, n.addr)
	value := string(bytes.Repeat([]byte("x"), 8<<10))
	var err error
	for i := 0; err == nil && i < 100; i++ {
		_, err = c.Put(t.Context(), "a", value)
	}
	if err != rpctypes.ErrNoSpace {
		t.Fatalf("%v, want %v", err, rpctypes.ErrNoSpace)
	}
	if code, body := fetch(t, n.addr, "/health"); code != 503 || body != `{"health":"false","reason":"ALARM NOSPACE"}` {
		t.Errorf("%d %s", code, body)
	}
	if code, body := fetch(t, n.addr, "/health?exclude=NOSPACE"); code != 200 {
		t.Errorf("%d %s", code, body)
	}
	got, err := c.Get(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Compact(t.Context(), got.Header.Revision, clientv3.WithCompactPhysical()); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Defragment(t.Context(), n.addr); err != nil {
		t.Fatal(err)
	}
	alarms, err := c.AlarmList(t.Context())
	if err != nil || len(alarms.Alarms) != 1 || alarms.Alarms[0].Alarm != pb.AlarmType_NOSPACE {
		t.Fatalf("%v, %v", alarms, err)
	}
	if _, err := c.AlarmDisarm(t.Context(), (*clientv3.AlarmMember)(alarms.Alarms[0])); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Put(t.Context(), "a", "small"); err != nil {
		t.Error(err)
	}
}
