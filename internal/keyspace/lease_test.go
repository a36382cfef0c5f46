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

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/lease"
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

// An expired lease ends by a recorded revocation: its keys are deleted, the followers are notified,
// and the log alone leads to the same state without any clock. A renewed lease stays.
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

// Leases have their full TTL after a start, and end after it.
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
		time.Sleep(time.Hour) // the duration of a replay does not count
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
