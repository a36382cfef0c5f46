package virtual

import (
	"bytes"
	"cmp"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
)

// HoldsFor reports whether a comparison holds for all keys of its range. A missing key is compared
// as empty, except its value, which never matches.
func HoldsFor(c *pb.Compare, kvs []*mvccpb.KeyValue) bool {
	if len(kvs) == 0 {
		return c.Target != pb.Compare_VALUE && holdsForOne(c, &mvccpb.KeyValue{})
	}
	for _, kv := range kvs {
		if !holdsForOne(c, kv) {
			return false
		}
	}
	return true
}

func holdsForOne(c *pb.Compare, kv *mvccpb.KeyValue) bool {
	var order int
	switch c.Target {
	case pb.Compare_VALUE:
		order = bytes.Compare(kv.Value, c.GetValue())
	case pb.Compare_CREATE:
		order = cmp.Compare(kv.CreateRevision, c.GetCreateRevision())
	case pb.Compare_MOD:
		order = cmp.Compare(kv.ModRevision, c.GetModRevision())
	case pb.Compare_VERSION:
		order = cmp.Compare(kv.Version, c.GetVersion())
	case pb.Compare_LEASE:
		order = cmp.Compare(kv.Lease, c.GetLease())
	}
	switch c.Result {
	case pb.Compare_EQUAL:
		return order == 0
	case pb.Compare_NOT_EQUAL:
		return order != 0
	case pb.Compare_GREATER:
		return order > 0
	case pb.Compare_LESS:
		return order < 0
	}
	return true
}
