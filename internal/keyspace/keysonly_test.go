package keyspace

import (
	"context"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
)

// A range of keys only has the leases of the keys, alone and in transactions that read or write.
func TestKeysOnlyHasLeases(t *testing.T) {
	s, _ := open(t, Options{})
	grant(t, s, 7, 100)
	putLeased(t, s, "a", 7)
	keys := func() *pb.RangeRequest { return &pb.RangeRequest{Key: []byte("a"), KeysOnly: true} }
	check := func(name string, r *pb.RangeResponse, err error) {
		t.Helper()
		if err != nil || len(r.Kvs) != 1 || r.Kvs[0].Lease != 7 || len(r.Kvs[0].Value) != 0 {
			t.Errorf("%s: %v %v, want the key with lease 7 and without its value", name, r, err)
		}
	}
	r, err := s.Range(context.Background(), keys())
	check("range", r, err)
	for name, write := range map[string][]*pb.RequestOp{
		"read":  nil,
		"write": {{Request: &pb.RequestOp_RequestPut{RequestPut: &pb.PutRequest{Key: []byte("b")}}}},
	} {
		ops := append(write, &pb.RequestOp{Request: &pb.RequestOp_RequestRange{RequestRange: keys()}})
		x, err := s.Txn(context.Background(), &pb.TxnRequest{Success: ops})
		if err != nil {
			t.Fatal(err)
		}
		check(name, x.GetResponses()[len(write)].GetResponseRange(), err)
	}
}
