package etcd

import (
	"context"
	"testing"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

func TestLeases(t *testing.T) {
	c := dial(t, newNode(t, Options{}).addr)
	ctx := t.Context()
	given, err := pb.NewLeaseClient(c.ActiveConnection()).LeaseGrant(ctx, &pb.LeaseGrantRequest{ID: 7, TTL: 60})
	if err != nil || given.ID != 7 || given.TTL != 60 || given.Header.GetMemberId() == 0 {
		t.Fatalf("%v, %v", given, err)
	}
	chosen, err := c.Grant(ctx, 60)
	if err != nil || chosen.ID <= 0 {
		t.Fatalf("%v, %v", chosen, err)
	}
	for _, key := range []string{"a", "b"} {
		if _, err := c.Put(ctx, key, "", clientv3.WithLease(7)); err != nil {
			t.Fatal(err)
		}
	}
	left, err := c.TimeToLive(ctx, 7, clientv3.WithAttachedKeys())
	if err != nil || left.GrantedTTL != 60 || left.TTL < 55 || len(left.Keys) != 2 {
		t.Errorf("%v, %v", left, err)
	}
	all, err := c.Leases(ctx)
	if err != nil || len(all.Leases) != 2 {
		t.Errorf("%v, %v", all, err)
	}
	if _, err := c.Revoke(ctx, 7); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Get(ctx, "a", clientv3.WithFromKey()); err != nil || got.Count != 0 {
		t.Errorf("keys of a lease that is over: %v, %v", got, err)
	}
	if left, err := c.TimeToLive(ctx, 7); err != nil || left.TTL != -1 || left.GrantedTTL != 0 {
		t.Errorf("%v, %v", left, err)
	}
}

func TestWrongLeases(t *testing.T) {
	c := dial(t, newNode(t, Options{}).addr)
	leases := pb.NewLeaseClient(c.ActiveConnection())
	grant := func(id, ttl int64) error {
		_, err := leases.LeaseGrant(t.Context(), &pb.LeaseGrantRequest{ID: id, TTL: ttl})
		return rpctypes.Error(err)
	}
	if err := grant(1, 60); err != nil {
		t.Fatal(err)
	}
	if err := grant(1, 60); err != rpctypes.ErrLeaseExist {
		t.Errorf("twice: %v", err)
	}
	if err := grant(2, 9_000_000_001); err != rpctypes.ErrLeaseTTLTooLarge {
		t.Errorf("for too long: %v", err)
	}
	if _, err := c.Revoke(t.Context(), 3); err != rpctypes.ErrLeaseNotFound {
		t.Errorf("revoke: %v", err)
	}
}

// One stream renews any number of leases. For a missing lease the answer has no TTL, and the stream
// continues.
func TestKeepAlive(t *testing.T) {
	c := dial(t, newNode(t, Options{}).addr)
	leases := pb.NewLeaseClient(c.ActiveConnection())
	if _, err := leases.LeaseGrant(t.Context(), &pb.LeaseGrantRequest{ID: 1, TTL: 60}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stream, err := leases.LeaseKeepAlive(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct{ id, ttl int64 }{{1, 60}, {2, 0}, {1, 60}} {
		if err := stream.Send(&pb.LeaseKeepAliveRequest{ID: want.id}); err != nil {
			t.Fatal(err)
		}
		if got, err := stream.Recv(); err != nil || got.ID != want.id || got.TTL != want.ttl || got.Header.GetRevision() == 0 {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
	}
}
