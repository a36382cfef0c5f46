package virtual

import (
	"bytes"
	"cmp"
	"slices"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
)

// LimitOf returns how many keys are needed to answer a request and to know whether there are more;
// 0 means all.
func LimitOf(r *pb.RangeRequest) int {
	filtered := r.MinModRevision != 0 || r.MaxModRevision != 0 || r.MinCreateRevision != 0 || r.MaxCreateRevision != 0
	if r.Limit <= 0 || r.Limit >= 1<<31-1 || filtered || !byKey(r) {
		return 0
	}
	return int(r.Limit) + 1
}

// byKey reports whether a request asks for the keys in ascending order.
func byKey(r *pb.RangeRequest) bool {
	return r.SortOrder == pb.RangeRequest_NONE || r.SortTarget == pb.RangeRequest_KEY && r.SortOrder == pb.RangeRequest_ASCEND
}

// Arrange filters, sorts and limits keys as the request requires. more reports whether the limit
// cut off keys.
func Arrange(kvs []*mvccpb.KeyValue, r *pb.RangeRequest) (_ []*mvccpb.KeyValue, more bool) {
	slices.SortStableFunc(kvs, func(a, b *mvccpb.KeyValue) int { return bytes.Compare(a.Key, b.Key) })
	limit := LimitOf(r)
	if limit > 0 && len(kvs) > limit {
		kvs = kvs[:limit]
	}
	kvs = slices.DeleteFunc(kvs, func(kv *mvccpb.KeyValue) bool {
		return r.MaxModRevision != 0 && kv.ModRevision > r.MaxModRevision || r.MinModRevision != 0 && kv.ModRevision < r.MinModRevision ||
			r.MaxCreateRevision != 0 && kv.CreateRevision > r.MaxCreateRevision || r.MinCreateRevision != 0 && kv.CreateRevision < r.MinCreateRevision
	})
	sortBy(kvs, r)
	if r.Limit > 0 && int64(len(kvs)) > r.Limit {
		kvs, more = kvs[:r.Limit], true
	}
	if r.KeysOnly {
		for _, kv := range kvs {
			kv.Value = nil
		}
	}
	return kvs, more
}

// sortBy sorts keys, which are in ascending order, as the request requires.
func sortBy(kvs []*mvccpb.KeyValue, r *pb.RangeRequest) {
	less := map[pb.RangeRequest_SortTarget]func(a, b *mvccpb.KeyValue) int{
		pb.RangeRequest_KEY:     func(a, b *mvccpb.KeyValue) int { return bytes.Compare(a.Key, b.Key) },
		pb.RangeRequest_VERSION: func(a, b *mvccpb.KeyValue) int { return int(a.Version - b.Version) },
		pb.RangeRequest_CREATE:  func(a, b *mvccpb.KeyValue) int { return cmp.Compare(a.CreateRevision, b.CreateRevision) },
		pb.RangeRequest_MOD:     func(a, b *mvccpb.KeyValue) int { return cmp.Compare(a.ModRevision, b.ModRevision) },
		pb.RangeRequest_VALUE:   func(a, b *mvccpb.KeyValue) int { return bytes.Compare(a.Value, b.Value) },
	}[r.SortTarget]
	switch {
	case less == nil:
	case r.SortOrder == pb.RangeRequest_DESCEND:
		slices.SortStableFunc(kvs, func(a, b *mvccpb.KeyValue) int { return less(b, a) })
	case r.SortOrder == pb.RangeRequest_ASCEND || r.SortTarget != pb.RangeRequest_KEY:
		slices.SortStableFunc(kvs, less)
	}
}
