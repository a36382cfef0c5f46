package clients

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"go.uber.org/zap"
)

// TestEtcdGo uses clientv3 with its package concurrency.
func TestEtcdGo(t *testing.T) {
	addr, queues := etcdAddr(t)
	ctx, cancel := context.WithTimeout(t.Context(), scriptPatience)
	defer cancel()
	c := etcdClient(t, addr)
	goEtcdMutex(ctx, t, c)
	goEtcdElection(ctx, t, c)
	goEtcdSTM(ctx, t, c)
	if queues == "yes" {
		goEtcdQueue(ctx, t, c, etcdClient(t, addr))
	}
}

func etcdClient(t *testing.T, addr string) *clientv3.Client {
	t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{addr}, Logger: zap.NewNop()})
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

func goEtcdSession(t *testing.T, c *clientv3.Client) *concurrency.Session {
	t.Helper()
	s, err := concurrency.NewSession(c, concurrency.WithTTL(60))
	must(t, err)
	return s
}

// goEtcdMutex lets four clients add to a number under a lock. No update that is a read and a write
// may be lost.
func goEtcdMutex(ctx context.Context, t *testing.T, c *clientv3.Client) {
	const workers, rounds = 4, 5
	told(t, "", second(c.Put(ctx, "go/n", "0")), "")
	var working sync.WaitGroup
	for range workers {
		s := goEtcdSession(t, c)
		working.Go(func() {
			defer s.Close()
			m := concurrency.NewMutex(s, "go/mutex")
			for range rounds {
				if err := m.Lock(ctx); err != nil {
					t.Error(err)
					return
				}
				r, err := c.Get(ctx, "go/n")
				if err != nil {
					t.Error(err)
					return
				}
				n, _ := strconv.Atoi(string(r.Kvs[0].Value))
				if _, err := c.Put(ctx, "go/n", strconv.Itoa(n+1)); err != nil {
					t.Error(err)
				}
				if err := m.Unlock(ctx); err != nil {
					t.Error(err)
				}
			}
		})
	}
	working.Wait()
	r, err := c.Get(ctx, "go/n")
	must(t, err)
	told(t, string(r.Kvs[0].Value), nil, strconv.Itoa(workers*rounds))
	one, two := goEtcdSession(t, c), goEtcdSession(t, c)
	defer two.Close()
	must(t, concurrency.NewMutex(one, "go/mutex").Lock(ctx))
	if err := concurrency.NewMutex(two, "go/mutex").TryLock(ctx); !errors.Is(err, concurrency.ErrLocked) {
		t.Errorf("a lock that is held: %v", err)
	}
	one.Close() // its lease ends, and with it the lock
	if err := concurrency.NewMutex(two, "go/mutex").Lock(ctx); err != nil {
		t.Error(err)
	}
}

func second[T any](_ T, err error) error { return err }

func goEtcdElection(ctx context.Context, t *testing.T, c *clientv3.Client) {
	one, two := goEtcdSession(t, c), goEtcdSession(t, c)
	defer two.Close()
	first, next := concurrency.NewElection(one, "go/election"), concurrency.NewElection(two, "go/election")
	must(t, first.Campaign(ctx, "first"))
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	leaders := next.Observe(watching)
	told(t, string((<-leaders).Kvs[0].Value), nil, "first")
	won := make(chan error, 1)
	go func() { won <- next.Campaign(ctx, "next") }()
	if err := first.Proclaim(ctx, "still first"); err != nil {
		t.Error(err)
	}
	told(t, string((<-leaders).Kvs[0].Value), nil, "still first")
	one.Close() // the leader is gone
	if err := <-won; err != nil {
		t.Error(err)
	}
	told(t, string((<-leaders).Kvs[0].Value), nil, "next")
	if err := next.Resign(ctx); err != nil {
		t.Error(err)
	}
	if _, err := next.Leader(ctx); !errors.Is(err, concurrency.ErrElectionNoLeader) {
		t.Errorf("there is no leader: %v", err)
	}
}

// goEtcdSTM transfers money between accounts and checks that the total stays the same.
func goEtcdSTM(ctx context.Context, t *testing.T, c *clientv3.Client) {
	const accounts, workers, moves = 3, 4, 10
	account := func(n int) string { return fmt.Sprint("go/account/", n%accounts) }
	for n := range accounts {
		told(t, "", second(c.Put(ctx, account(n), "100")), "")
	}
	var working sync.WaitGroup
	for w := range workers {
		working.Go(func() {
			for n := range moves {
				_, err := concurrency.NewSTM(c, func(s concurrency.STM) error {
					from, _ := strconv.Atoi(s.Get(account(w + n)))
					to, _ := strconv.Atoi(s.Get(account(w + n + 1)))
					s.Put(account(w+n), strconv.Itoa(from-n))
					s.Put(account(w+n+1), strconv.Itoa(to+n))
					return nil
				}, concurrency.WithAbortContext(ctx))
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	working.Wait()
	all, err := c.Get(ctx, "go/account/", clientv3.WithPrefix())
	must(t, err)
	sum := 0
	for _, kv := range all.Kvs {
		n, _ := strconv.Atoi(string(kv.Value))
		sum += n
	}
	told(t, sum, nil, strconv.Itoa(accounts*100))
}

// goEtcdQueue consumes, transforms and produces in one transaction: the answer exists if and only
// if the question is acknowledged.
func goEtcdQueue(ctx context.Context, t *testing.T, c, other *clientv3.Client) {
	questions := c.Watch(ctx, "/q/go.questions/c/me/", clientv3.WithPrefix(), clientv3.WithFilterDelete())
	answers := other.Watch(ctx, "/q/go.answers/c/me/", clientv3.WithPrefix(), clientv3.WithFilterDelete())
	told(t, "", second(other.Put(ctx, "/q/go.questions/p/me/1", "how much?")), "")
	asked := (<-questions).Events[0].Kv
	told(t, string(asked.Value), nil, "how much?")
	move := func() (*clientv3.TxnResponse, error) {
		return c.Txn(ctx).If(clientv3.Compare(clientv3.Version(string(asked.Key)), ">", 0)).
			Then(clientv3.OpDelete(string(asked.Key)), clientv3.OpPut("/q/go.answers/p/1", "so much")).Commit()
	}
	for _, want := range []string{"true", "false"} {
		r, err := move()
		must(t, err)
		told(t, r.Succeeded, nil, want)
	}
	answer := (<-answers).Events[0].Kv
	told(t, string(answer.Value), nil, "so much")
	if !strings.HasSuffix(string(answer.Key), "/1") {
		t.Errorf("key %q", answer.Key)
	}
	r, err := other.Delete(ctx, string(answer.Key))
	must(t, err)
	told(t, r.Deleted, nil, "1")
}
