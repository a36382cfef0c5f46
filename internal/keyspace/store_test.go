package keyspace

import (
	"context"
	"errors"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/lease"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
)

func TestPutAndRange(t *testing.T) {
	s, _ := open(t, Options{})
	if rev := put(t, s, "a", "1"); rev != 2 {
		t.Errorf("first put has revision %d, etcd's has 2", rev)
	}
	put(t, s, "a", "2")
	answer, err := s.Range(context.Background(), &pb.RangeRequest{Key: []byte("a")})
	if err != nil {
		t.Fatal(err)
	}
	if kv := answer.Kvs[0]; string(kv.Value) != "2" || kv.Version != 2 || kv.CreateRevision != 2 || kv.ModRevision != 3 {
		t.Errorf("got %v", kv)
	}
}

// The refusal of an entry by etcd is a result: it neither stops the store nor uses a revision.
func TestRefusalsAreResults(t *testing.T) {
	s, _ := open(t, Options{})
	ctx := context.Background()
	rev := put(t, s, "a", "1")
	for _, c := range []struct {
		name string
		do   func() error
		want error
	}{
		{"lease that is not there", func() error {
			_, err := s.Put(ctx, &pb.PutRequest{Key: []byte("a"), Lease: 7})
			return err
		}, lease.ErrLeaseNotFound},
		{"revoke of none", func() error {
			_, err := s.LeaseRevoke(ctx, &pb.LeaseRevokeRequest{ID: 7})
			return err
		}, lease.ErrLeaseNotFound},
		{"compaction of the future", func() error {
			_, err := s.Compact(ctx, &pb.CompactionRequest{Revision: 99})
			return err
		}, mvcc.ErrFutureRev},
		{"read of the future", func() error {
			_, err := s.Range(ctx, &pb.RangeRequest{Key: []byte("a"), Revision: 99})
			return err
		}, mvcc.ErrFutureRev},
	} {
		if err := c.do(); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	if next := put(t, s, "a", "2"); next != rev+1 {
		t.Errorf("revision %d after %d", next, rev)
	}
}
