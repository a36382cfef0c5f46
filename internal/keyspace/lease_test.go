package keyspace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/etcd/api/v3/authpb"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/lease"

	"fiveways/internal/keyspace/grants"
)

func grant(t *testing.T, s *Store, id, ttl int64) int64 {
	t.Helper()
	answer, err := s.LeaseGrant(context.Background(), &pb.LeaseGrantRequest{ID: id, TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	if answer.ID <= 0 {
		t.Errorf("lease %d", answer.ID)
	}
	return answer.TTL
}

func putLeased(t *testing.T, s *Store, key string, id int64) {
	t.Helper()
	if _, err := s.Put(context.Background(), &pb.PutRequest{Key: []byte(key), Lease: id, Value: []byte("x")}); err != nil {
		t.Fatal(err)
	}
}

// A lease that is over ends by a recorded revoke: its keys go, who asked is told, and the log alone gives the same state without any clock. One that
// is renewed stays.
func TestLeaseEndsByRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, log := New(Options{}), &fakeLog{}
		log.store = s
		if err := s.Start(log); err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		var mu sync.Mutex
		var gone []int64
		s.OnLeaseGone(func(id int64) { mu.Lock(); gone = append(gone, id); mu.Unlock() })
		if ttl := grant(t, s, 1, 1); ttl != defaultMinLeaseTTL {
			t.Errorf("a lease of a second got %d", ttl)
		}
		grant(t, s, 2, 10)
		grant(t, s, 0, 1000)
		for i := range 3 {
			putLeased(t, s, fmt.Sprint("short", i), 1)
		}
		putLeased(t, s, "long", 2)
		for range 5 {
			time.Sleep(4 * time.Second)
			if ttl, err := s.LeaseRenew(context.Background(), 2); ttl != 10 || err != nil {
				t.Errorf("renewed to %d, %v", ttl, err)
			}
		}
		synctest.Wait()
		mu.Lock()
		if !slices.Equal(gone, []int64{1}) {
			t.Errorf("gone %v", gone)
		}
		mu.Unlock()
		if get(t, s, "short0") != "" || get(t, s, "long") != "x" || s.LeaseExists(1) || !s.LeaseExists(2) {
			t.Error("after 20 s the short lease is there, or the long one is not")
		}
		if _, err := s.LeaseRenew(context.Background(), 1); !errors.Is(err, lease.ErrLeaseNotFound) {
			t.Errorf("renewed a lease that is over: %v", err)
		}
		again := New(Options{})
		defer again.Close()
		log.replay(t, again, 0)
		sameState(t, "log", again, s)
	})
}

// Leases have their full time after a start, and end after it.
func TestLeasesAfterStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, log := New(Options{}), &fakeLog{}
		log.store = s
		if err := s.Start(log); err != nil {
			t.Fatal(err)
		}
		grant(t, s, 1, 10)
		putLeased(t, s, "k", 1)
		time.Sleep(8 * time.Second)
		s.Stop()
		_ = s.Close()
		again := New(Options{})
		defer again.Close()
		log.replay(t, again, 0)
		time.Sleep(time.Hour) // a replay takes as long as it takes
		log.store = again
		if err := again.Start(log); err != nil {
			t.Fatal(err)
		}
		left, err := again.LeaseTimeToLive(context.Background(), &pb.LeaseTimeToLiveRequest{ID: 1, Keys: true})
		if err != nil || left.TTL < 9 || left.GrantedTTL != 10 || len(left.Keys) != 1 {
			t.Errorf("%v %v", left, err)
		}
		time.Sleep(12 * time.Second)
		synctest.Wait()
		if get(t, again, "k") != "" {
			t.Error("the key is there 12 s after the start")
		}
	})
}

// Keys that are not the store's are shown with a lease, and are no obstacle to its end.
func TestAttachedKeys(t *testing.T) {
	s, _ := open(t, Options{})
	ctx := context.Background()
	if err := s.AttachKey(9, []byte("/q/x")); !errors.Is(err, lease.ErrLeaseNotFound) {
		t.Errorf("attached to no lease: %v", err)
	}
	keys := func() (all []string) {
		answer, err := s.LeaseTimeToLive(ctx, &pb.LeaseTimeToLiveRequest{ID: 1, Keys: true})
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range answer.Keys {
			all = append(all, string(k))
		}
		slices.Sort(all)
		return all
	}
	grant(t, s, 1, 100)
	putLeased(t, s, "own", 1)
	for _, k := range []string{"/q/a", "/q/b"} {
		if err := s.AttachKey(1, []byte(k)); err != nil {
			t.Fatal(err)
		}
	}
	s.DetachKey(1, []byte("/q/a"))
	s.DetachKey(1, []byte("own")) // it is the store's
	if got := keys(); !slices.Equal(got, []string{"/q/b", "own"}) {
		t.Errorf("keys %v", got)
	}
	if _, err := s.LeaseRevoke(ctx, &pb.LeaseRevokeRequest{ID: 1}); err != nil {
		t.Fatal(err)
	}
	if id := s.Lessor().GetLease(lease.LeaseItem{Key: "/q/b"}); id != lease.NoLease {
		t.Errorf("the key hangs on lease %d, which is gone", id)
	}
	if get(t, s, "own") != "" {
		t.Error("the key is there after its lease")
	}
}

// Keys that are not the store's do not decide who may do what with a lease: they are not in the log, so a replay would decide otherwise.
func TestAttachedKeysAndRoles(t *testing.T) {
	s, log := open(t, Options{})
	for _, r := range []*pb.InternalRaftRequest{
		grants.Begin(grants.Root, 1), {AuthUserGrantRole: &pb.AuthUserGrantRoleRequest{User: grants.Root, Role: grants.Root}},
		grants.Begin("alice", 2), {AuthRoleAdd: &pb.AuthRoleAddRequest{Name: "a"}},
		{AuthRoleGrantPermission: &pb.AuthRoleGrantPermissionRequest{Name: "a", Perm: &authpb.Permission{
			PermType: authpb.READWRITE, Key: []byte("a"), RangeEnd: []byte("b")}}},
		{AuthUserGrantRole: &pb.AuthUserGrantRoleRequest{User: "alice", Role: "a"}}, {AuthEnable: &pb.AuthEnableRequest{}},
	} {
		if x, err := s.Propose(context.Background(), r); err != nil || x.Err != nil {
			t.Fatal(x, err)
		}
	}
	as := func(name string) context.Context {
		return WithWho(context.Background(), grants.Info{Username: name, Revision: s.Grants().Revision()})
	}
	grant(t, s, 1, 100)
	putLeased(t, s, "a1", 1)
	if err := s.AttachKey(1, []byte("/q/x")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.LeaseRenew(as("alice"), 1); err != nil {
		t.Errorf("renew: %v", err)
	}
	if left, err := s.LeaseTimeToLive(as("alice"), &pb.LeaseTimeToLiveRequest{ID: 1, Keys: true}); err != nil || len(left.Keys) != 2 {
		t.Errorf("time to live: %v, %v", left, err)
	}
	if _, err := s.Put(as("alice"), &pb.PutRequest{Key: []byte("a2"), Lease: 1}); err != nil {
		t.Errorf("put: %v", err)
	}
	if _, err := s.LeaseRevoke(as("alice"), &pb.LeaseRevokeRequest{ID: 1}); err != nil {
		t.Errorf("revoke: %v", err)
	}
	again := New(Options{})
	defer again.Close()
	log.replay(t, again, 0)
	sameState(t, "log", again, s)
}
