package etcd

import (
	"context"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.etcd.io/etcd/server/v3/etcdserver/api/v3election"
	epb "go.etcd.io/etcd/server/v3/etcdserver/api/v3election/v3electionpb"
	lpb "go.etcd.io/etcd/server/v3/etcdserver/api/v3lock/v3lockpb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Only one client at a time holds a lock of the service. The next one gets it after an unlock or
// the end of the lease.
func TestLockService(t *testing.T) {
	c := dial(t, newNode(t, Options{}).addr)
	locks := lpb.NewLockClient(c.ActiveConnection())
	grant := func() int64 {
		t.Helper()
		r, err := c.Grant(t.Context(), 60)
		if err != nil {
			t.Fatal(err)
		}
		return int64(r.ID)
	}
	first, err := locks.Lock(t.Context(), &lpb.LockRequest{Name: []byte("l"), Lease: grant()})
	if err != nil {
		t.Fatal(err)
	}
	second, third := grant(), grant()
	got := make(chan *lpb.LockResponse)
	wait := func(lease int64) {
		r, err := locks.Lock(t.Context(), &lpb.LockRequest{Name: []byte("l"), Lease: lease})
		if err != nil {
			t.Error(err)
		}
		got <- r
	}
	waiting := c.Watch(t.Context(), "l/", clientv3.WithPrefix(), clientv3.WithRev(first.Header.Revision))
	go wait(second)
	for n := 0; n < 2; { // the keys of the holder and of the waiting client
		n += len((<-waiting).Events)
	}
	select {
	case r := <-got:
		t.Fatalf("two have the lock: %v", r)
	default:
	}
	if _, err := locks.Unlock(t.Context(), &lpb.UnlockRequest{Key: first.Key}); err != nil {
		t.Fatal(err)
	}
	<-got
	go wait(third)
	if _, err := c.Revoke(t.Context(), clientv3.LeaseID(second)); err != nil {
		t.Fatal(err)
	}
	<-got
}

// A client that stops waiting leaves no key behind.
func TestLockGivenUp(t *testing.T) {
	c := dial(t, newNode(t, Options{}).addr)
	locks := lpb.NewLockClient(c.ActiveConnection())
	if _, err := locks.Lock(t.Context(), &lpb.LockRequest{Name: []byte("l")}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	changes := c.Watch(t.Context(), "l/", clientv3.WithPrefix())
	over := make(chan error)
	go func() {
		_, err := locks.Lock(ctx, &lpb.LockRequest{Name: []byte("l")})
		over <- err
	}()
	if e := (<-changes).Events[0]; !e.IsCreate() {
		t.Fatalf("%v", e)
	}
	cancel()
	if err := <-over; err == nil {
		t.Error("the lock is had")
	}
	if e := (<-changes).Events[0]; e.Type != clientv3.EventTypeDelete {
		t.Errorf("%v", e)
	}
}

// A client that disconnects while it waits for a lock leaves no key behind.
func TestLockOfAClientThatIsGone(t *testing.T) {
	n := newNode(t, Options{})
	c := dial(t, n.addr)
	if _, err := lpb.NewLockClient(c.ActiveConnection()).Lock(t.Context(), &lpb.LockRequest{Name: []byte("l")}); err != nil {
		t.Fatal(err)
	}
	changes := c.Watch(t.Context(), "l/", clientv3.WithPrefix())
	other := dial(t, n.addr)
	over := make(chan error)
	go func() {
		_, err := lpb.NewLockClient(other.ActiveConnection()).Lock(t.Context(), &lpb.LockRequest{Name: []byte("l")})
		over <- err
	}()
	if e := (<-changes).Events[0]; !e.IsCreate() {
		t.Fatalf("%v", e)
	}
	other.Close()
	if err := <-over; err == nil {
		t.Error("the lock is had")
	}
	if e := (<-changes).Events[0]; e.Type != clientv3.EventTypeDelete {
		t.Errorf("%v", e)
	}
}

// A user that is deleted no longer waits for a lock, and leaves no key behind.
func TestLockOfADeletedUser(t *testing.T) {
	n := controlled(t)
	root, other := dialAs(t, n.addr, "root", "root"), plain(t, n.addr) // which does not log in again
	ctx := metadata.AppendToOutgoingContext(t.Context(), "token", (&rig{n.Server, t}).login("both", "p"))
	if _, err := lpb.NewLockClient(root.ActiveConnection()).Lock(t.Context(), &lpb.LockRequest{Name: []byte("a")}); err != nil {
		t.Fatal(err)
	}
	changes := root.Watch(t.Context(), "a/", clientv3.WithPrefix(), clientv3.WithCreatedNotify())
	<-changes
	over := make(chan error)
	go func() {
		_, err := lpb.NewLockClient(other).Lock(ctx, &lpb.LockRequest{Name: []byte("a")})
		over <- err
	}()
	if e := nextEvents(t, changes)[0]; !e.IsCreate() {
		t.Fatalf("%v", e)
	}
	if err := n.broker.DeleteUser("both"); err != nil {
		t.Fatal(err)
	}
	if err := <-over; status.Code(err) != codes.Unauthenticated {
		t.Errorf("%v", err)
	}
	if e := nextEvents(t, changes)[0]; e.Type != clientv3.EventTypeDelete {
		t.Errorf("%v", e)
	}
}

// A client that waits for a lock does not delay a drain.
func TestLockWhileDraining(t *testing.T) {
	n := newNode(t, Options{})
	c := dial(t, n.addr)
	locks := lpb.NewLockClient(c.ActiveConnection())
	first, err := locks.Lock(t.Context(), &lpb.LockRequest{Name: []byte("l")})
	if err != nil {
		t.Fatal(err)
	}
	waiting := c.Watch(t.Context(), "l/", clientv3.WithPrefix(), clientv3.WithRev(first.Header.Revision+1))
	over := make(chan error, 1)
	go func() {
		_, err := locks.Lock(t.Context(), &lpb.LockRequest{Name: []byte("l")})
		over <- err
	}()
	<-waiting
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := n.Drain(ctx); err != nil {
		t.Error(err)
	}
	if err := <-over; status.Code(err) != codes.Unavailable {
		t.Errorf("%v", err)
	}
}

func TestElectionService(t *testing.T) {
	c := dial(t, newNode(t, Options{}).addr)
	elections := epb.NewElectionClient(c.ActiveConnection())
	ctx := t.Context()
	won, err := elections.Campaign(ctx, &epb.CampaignRequest{Name: []byte("e"), Value: []byte("one")})
	if err != nil {
		t.Fatal(err)
	}
	seen, err := elections.Observe(ctx, &epb.LeaderRequest{Name: []byte("e")})
	if err != nil {
		t.Fatal(err)
	}
	leads := func(want string) {
		t.Helper()
		if r, err := seen.Recv(); err != nil || string(r.Kv.Value) != want {
			t.Errorf("%v, %v; want %s", r, err, want)
		}
	}
	leads("one")
	if _, err := elections.Proclaim(ctx, &epb.ProclaimRequest{Leader: won.Leader, Value: []byte("two")}); err != nil {
		t.Fatal(err)
	}
	leads("two")
	if r, err := elections.Leader(ctx, &epb.LeaderRequest{Name: []byte("e")}); err != nil || string(r.Kv.Value) != "two" {
		t.Errorf("%v, %v", r, err)
	}
	if _, err := elections.Resign(ctx, &epb.ResignRequest{Leader: won.Leader}); err != nil {
		t.Fatal(err)
	}
	if _, err := elections.Leader(ctx, &epb.LeaderRequest{Name: []byte("e")}); status.Convert(err).Message() != concurrency.ErrElectionNoLeader.Error() {
		t.Errorf("a leader after the end: %v", err)
	}
	if _, err := elections.Resign(ctx, &epb.ResignRequest{}); status.Convert(err).Message() != v3election.ErrMissingLeaderKey.Error() {
		t.Errorf("resign from nothing: %v", err)
	}
}

// The recipes of the client library work as with etcd.
func TestConcurrencyRecipes(t *testing.T) {
	c := dial(t, newNode(t, Options{}).addr)
	s, err := concurrency.NewSession(c, concurrency.WithTTL(60))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	m := concurrency.NewMutex(s, "m")
	if err := m.Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	other, err := concurrency.NewSession(c, concurrency.WithTTL(60))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := concurrency.NewMutex(other, "m").TryLock(t.Context()); err != concurrency.ErrLocked {
		t.Errorf("%v, want %v", err, concurrency.ErrLocked)
	}
	if err := m.Unlock(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, err = concurrency.NewSTM(c, func(s concurrency.STM) error {
		s.Put("b", s.Get("a")+"x")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Get(t.Context(), "b"); err != nil || string(got.Kvs[0].Value) != "x" {
		t.Errorf("%v, %v", got, err)
	}
}

// A lease that is not renewed expires and deletes its keys.
func TestLeaseRunsOut(t *testing.T) {
	c := dial(t, newNode(t, Options{}).addr)
	r, err := pb.NewLeaseClient(c.ActiveConnection()).LeaseGrant(t.Context(), &pb.LeaseGrantRequest{TTL: 1})
	if err != nil {
		t.Fatal(err)
	}
	gone := c.Watch(t.Context(), "a")
	if _, err := c.Put(t.Context(), "a", "", clientv3.WithLease(clientv3.LeaseID(r.ID))); err != nil {
		t.Fatal(err)
	}
	late := time.After(15 * time.Second)
	for {
		select {
		case w := <-gone:
			for _, e := range w.Events {
				if e.Type == clientv3.EventTypeDelete {
					return
				}
			}
		case <-late:
			t.Fatal("the key is still there")
		}
	}
}
