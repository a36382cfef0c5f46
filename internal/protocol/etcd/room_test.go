package etcd

import (
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/keyspace"
)

// While the disk is low on space nothing is added. Deletions and reads still work.
func TestDiskShort(t *testing.T) {
	n := startNode(t, Options{}, keyspace.Options{}, broker.Options{DiskFreeLimit: 1 << 62})
	late := time.After(10 * time.Second)
	for round := time.NewTicker(10 * time.Millisecond); n.broker.Alarm() == nil; {
		select {
		case <-round.C:
		case <-late:
			t.Fatal("no alarm")
		}
	}
	c := dial(t, n.addr)
	kv, leases := pb.NewKVClient(c.ActiveConnection()), pb.NewLeaseClient(c.ActiveConnection())
	txn := func(success ...*pb.RequestOp) error {
		_, err := kv.Txn(t.Context(), &pb.TxnRequest{Success: success})
		return rpctypes.Error(err)
	}
	_, put := c.Put(t.Context(), "a", "1")
	_, grant := leases.LeaseGrant(t.Context(), &pb.LeaseGrantRequest{TTL: 60})
	for name, err := range map[string]error{
		"put": put, "grant": rpctypes.Error(grant), "txn": txn(putOp("a")), "txn of a message": txn(putOp("/q/a/p/1")), "txn inside": txn(txnOp(nil, ops(putOp("a")))),
	} {
		if err != rpctypes.ErrNoSpace {
			t.Errorf("%s: %v, want %v", name, err, rpctypes.ErrNoSpace)
		}
	}
	_, get := c.Get(t.Context(), "a")
	_, del := c.Delete(t.Context(), "a")
	for name, err := range map[string]error{"get": get, "delete": del, "txn": txn(deleteOp("a", ""))} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
