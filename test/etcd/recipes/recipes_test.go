package recipes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	recipe "go.etcd.io/etcd/client/v3/experimental/recipes"
	"go.etcd.io/etcd/client/v3/leasing"
	"go.etcd.io/etcd/client/v3/mirror"
	"go.etcd.io/etcd/client/v3/namespace"
	"go.etcd.io/etcd/client/v3/ordering"

	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/etcdd"
)

func TestMain(m *testing.M) { brokertest.Main(m) }

const (
	patience   = 30 * time.Second
	sessionTTL = 5 // seconds; a session renews its lease every third of it
)

// bed is a server under test. Each client has its own connection.
type bed struct {
	t    *testing.T
	addr string
	ctx  context.Context
}

func (b *bed) client() *clientv3.Client {
	b.t.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{b.addr}, DialTimeout: patience})
	check(b.t, err)
	b.t.Cleanup(func() { c.Close() })
	return c
}

func (b *bed) session(c *clientv3.Client) *concurrency.Session {
	b.t.Helper()
	s, err := concurrency.NewSession(c, concurrency.WithTTL(sessionTTL))
	check(b.t, err)
	b.t.Cleanup(func() { s.Close() })
	return s
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// together runs fn n times concurrently and returns when all calls have returned.
func together(t *testing.T, n int, fn func(i int) error) {
	t.Helper()
	var all sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		all.Go(func() { errs[i] = fn(i) })
	}
	all.Wait()
	check(t, errors.Join(errs...))
}

var all = map[string]func(*testing.T, *bed){
	"mutex": mutex, "lock of a client that dies": orphanedLock, "election": election, "transactional memory": transfers, "leased keys": leased,
	"mirror": mirrored, "name spaces": spaces, "ordered reads": ordered, "barriers": barriers, "queues": queues, "readers and writers": readersAndWriters,
}

func TestRecipes(t *testing.T) {
	servers := map[string]func(t *testing.T) string{
		"Fiveways": func(t *testing.T) string { return brokertest.Run(t, "--etcd", "127.0.0.1:0").EtcdAddr() },
		"etcd":     func(t *testing.T) string { return etcdd.Start(t) },
	}
	if addr := os.Getenv("ETCD_PEER"); addr != "" {
		servers = map[string]func(t *testing.T) string{addr: func(*testing.T) string { return addr }}
	}
	for name, start := range servers {
		t.Run(name, func(t *testing.T) {
			addr := start(t)
			for recipe, run := range all {
				t.Run(recipe, func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					defer cancel()
					run(t, &bed{t: t, addr: addr, ctx: ctx})
				})
			}
		})
	}
}

// mutex checks that no read-modify-write under the lock is lost.
func mutex(t *testing.T, b *bed) {
	const workers, rounds = 4, 10
	c := b.client()
	together(t, workers, func(int) error {
		s, err := concurrency.NewSession(b.client())
		if err != nil {
			return err
		}
		defer s.Close()
		m := concurrency.NewMutex(s, "mutex/lock")
		for range rounds {
			if err := m.Lock(b.ctx); err != nil {
				return err
			}
			r, err := c.Get(b.ctx, "mutex/count")
			if err != nil {
				return err
			}
			n := 0
			if len(r.Kvs) == 1 {
				n, _ = strconv.Atoi(string(r.Kvs[0].Value))
			}
			put, err := c.Txn(b.ctx).If(m.IsOwner()).Then(clientv3.OpPut("mutex/count", strconv.Itoa(n+1))).Commit()
			if err != nil || !put.Succeeded {
				return fmt.Errorf("put of the owner: %v, %w", put, err)
			}
			if err := m.Unlock(b.ctx); err != nil {
				return err
			}
		}
		return nil
	})
	r, err := c.Get(b.ctx, "mutex/count")
	check(t, err)
	if got := string(r.Kvs[0].Value); got != strconv.Itoa(workers*rounds) {
		t.Errorf("counted %s, want %d", got, workers*rounds)
	}
}

// orphanedLock checks that the lock of a session whose lease has ended goes to the next waiter.
func orphanedLock(t *testing.T, b *bed) {
	c := b.client()
	first, second := b.session(c), b.session(b.client())
	m1, m2 := concurrency.NewMutex(first, "orphan"), concurrency.NewMutex(second, "orphan")
	check(t, m1.Lock(b.ctx))
	if err := m2.TryLock(b.ctx); !errors.Is(err, concurrency.ErrLocked) {
		t.Fatalf("a lock that another has: %v", err)
	}
	got := make(chan error, 1)
	go func() { got <- m2.Lock(b.ctx) }()
	_, err := c.Revoke(b.ctx, first.Lease())
	check(t, err)
	check(t, <-got)
	select {
	case <-first.Done():
	case <-b.ctx.Done():
		t.Error("the session of a revoked lease is not told")
	}
}

// election checks that there is one leader at a time, that watchers see which, and that the longest
// waiting candidate is the next one.
func election(t *testing.T, b *bed) {
	s1, s2 := b.session(b.client()), b.session(b.client())
	e1, e2 := concurrency.NewElection(s1, "election"), concurrency.NewElection(s2, "election")
	ctx, cancel := context.WithCancel(b.ctx)
	defer cancel()
	seen := concurrency.NewElection(b.session(b.client()), "election").Observe(ctx)
	next := func(want string) {
		t.Helper()
		select {
		case r := <-seen:
			if len(r.Kvs) != 1 || string(r.Kvs[0].Value) != want {
				t.Errorf("observed %v, want %q", r.Kvs, want)
			}
		case <-b.ctx.Done():
			t.Fatalf("no leader was seen, want %q", want)
		}
	}
	check(t, e1.Campaign(b.ctx, "one"))
	next("one")
	check(t, e1.Proclaim(b.ctx, "one again"))
	next("one again")
	won := make(chan error, 1)
	go func() { won <- e2.Campaign(b.ctx, "two") }()
	check(t, e1.Resign(b.ctx))
	check(t, <-won)
	next("two")
	leader, err := e2.Leader(b.ctx)
	check(t, err)
	if string(leader.Kvs[0].Value) != "two" {
		t.Errorf("leader %v", leader.Kvs)
	}
}

// transfers checks that software transactional memory keeps the sum, at each isolation level that
// promises it.
func transfers(t *testing.T, b *bed) {
	const accounts, workers, rounds = 5, 4, 20
	c := b.client()
	for level, isolation := range map[string]concurrency.Isolation{
		"serializable snapshot": concurrency.SerializableSnapshot, "serializable": concurrency.Serializable, "repeatable": concurrency.RepeatableReads,
	} {
		account := func(i int) string { return fmt.Sprintf("stm/%s/%d", level, i%accounts) }
		for i := range accounts {
			_, err := c.Put(b.ctx, account(i), "100")
			check(t, err)
		}
		together(t, workers, func(w int) error {
			for i := range rounds {
				_, err := concurrency.NewSTM(c, func(s concurrency.STM) error {
					from, to := account(w+i), account(w+2*i+1)
					if from == to {
						return nil
					}
					x, _ := strconv.Atoi(s.Get(from))
					y, _ := strconv.Atoi(s.Get(to))
					s.Put(from, strconv.Itoa(x-i))
					s.Put(to, strconv.Itoa(y+i))
					return nil
				}, concurrency.WithIsolation(isolation), concurrency.WithAbortContext(b.ctx))
				if err != nil {
					return err
				}
			}
			return nil
		})
		r, err := c.Get(b.ctx, "stm/"+level+"/", clientv3.WithPrefix())
		check(t, err)
		sum := 0
		for _, kv := range r.Kvs {
			x, _ := strconv.Atoi(string(kv.Value))
			sum += x
		}
		if sum != 100*accounts {
			t.Errorf("%s: the sum is %d", level, sum)
		}
	}
}

// leased checks that two clients with leased keys see each other's writes.
func leased(t *testing.T, b *bed) {
	var kvs [2]clientv3.KV
	for i := range kvs {
		kv, closeKV, err := leasing.NewKV(b.client(), "leasing/")
		check(t, err)
		t.Cleanup(closeKV)
		kvs[i] = kv
	}
	for i := range 20 {
		want := strconv.Itoa(i)
		_, err := kvs[i%2].Put(b.ctx, "leased", want)
		check(t, err)
		for j := range kvs {
			r, err := kvs[(i+j)%2].Get(b.ctx, "leased")
			check(t, err)
			if len(r.Kvs) != 1 || string(r.Kvs[0].Value) != want {
				t.Fatalf("round %d: client %d reads %v", i, (i+j)%2, r.Kvs)
			}
		}
	}
	_, err := kvs[0].Delete(b.ctx, "leased")
	check(t, err)
	if r, err := kvs[1].Get(b.ctx, "leased"); err != nil || len(r.Kvs) != 0 {
		t.Errorf("after it was deleted: %v, %v", r, err)
	}
}

// mirrored checks that a mirror, built from a snapshot and later updates, equals the original
// although keys change all the time.
func mirrored(t *testing.T, b *bed) {
	c := b.client()
	put := func(i int) error {
		if i%7 == 6 {
			_, err := c.Delete(b.ctx, fmt.Sprintf("mirror/%03d", i%50))
			return err
		}
		_, err := c.Put(b.ctx, fmt.Sprintf("mirror/%03d", i%50), strconv.Itoa(i))
		return err
	}
	for i := range 100 {
		check(t, put(i))
	}
	syncer := mirror.NewSyncer(c, "mirror/", 0)
	replica := map[string]string{}
	base, errs := syncer.SyncBase(b.ctx)
	written := make(chan error, 1)
	go func() {
		var err error
		for i := 100; i < 300 && err == nil; i++ {
			err = put(i)
		}
		if err == nil {
			_, err = c.Put(b.ctx, "mirror/the end", "")
		}
		written <- err
	}()
	for r := range base {
		for _, kv := range r.Kvs {
			replica[string(kv.Key)] = string(kv.Value)
		}
	}
	check(t, <-errs)
	updates := syncer.SyncUpdates(b.ctx)
	for ended := false; !ended; {
		r, ok := <-updates
		if !ok {
			t.Fatal("the updates ended")
		}
		check(t, r.Err())
		for _, e := range r.Events {
			key := string(e.Kv.Key)
			ended = ended || key == "mirror/the end"
			if delete(replica, key); e.Type == clientv3.EventTypePut {
				replica[key] = string(e.Kv.Value)
			}
		}
	}
	check(t, <-written)
	r, err := c.Get(b.ctx, "mirror/", clientv3.WithPrefix())
	check(t, err)
	if len(r.Kvs) != len(replica) {
		t.Errorf("the copy has %d keys, want %d", len(replica), len(r.Kvs))
	}
	for _, kv := range r.Kvs {
		if got, ok := replica[string(kv.Key)]; !ok || got != string(kv.Value) {
			t.Errorf("the copy has %q at %s, want %q", got, kv.Key, kv.Value)
		}
	}
}

// spaces checks that a namespace is invisible from outside, and sees nothing from outside.
func spaces(t *testing.T, b *bed) {
	c := b.client()
	kv, watcher := namespace.NewKV(c.KV, "space/"), namespace.NewWatcher(c.Watcher, "space/")
	defer watcher.Close()
	events := watcher.Watch(b.ctx, "", clientv3.WithPrefix(), clientv3.WithPrevKV(), clientv3.WithCreatedNotify())
	<-events
	_, err := c.Put(b.ctx, "spac", "outside")
	check(t, err)
	_, err = c.Put(b.ctx, "space0", "outside")
	check(t, err)
	_, err = kv.Put(b.ctx, "a", "1")
	check(t, err)
	done, err := kv.Txn(b.ctx).If(clientv3.Compare(clientv3.Value("a"), "=", "1")).Then(clientv3.OpPut("a", "2"), clientv3.OpGet("a")).Commit()
	check(t, err)
	if !done.Succeeded || string(done.Responses[1].GetResponseRange().Kvs[0].Key) != "a" {
		t.Errorf("transaction %v", done)
	}
	var got []string
	for len(got) < 2 {
		for _, e := range (<-events).Events {
			got = append(got, fmt.Sprintf("%s=%s", e.Kv.Key, e.Kv.Value))
		}
	}
	if want := []string{"a=1", "a=2"}; !slices.Equal(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

// ordered checks that no answer is older than an earlier one.
func ordered(t *testing.T, b *bed) {
	c := b.client()
	kv := ordering.NewKV(c.KV, func(clientv3.Op, clientv3.OpResponse, int64) error { return ordering.ErrNoGreaterRev })
	together(t, 4, func(w int) error {
		for i := range 50 {
			var err error
			if i%3 == w%3 {
				_, err = kv.Put(b.ctx, "ordered", strconv.Itoa(i))
			} else {
				_, err = kv.Get(b.ctx, "ordered", clientv3.WithSerializable())
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// barriers checks that waiters continue when the barrier is removed, and that a double barrier lets
// all clients enter and leave together.
func barriers(t *testing.T, b *bed) {
	barrier := recipe.NewBarrier(b.client(), "barrier")
	check(t, barrier.Hold())
	passed := make(chan error, 1)
	go func() { passed <- recipe.NewBarrier(b.client(), "barrier").Wait() }()
	check(t, barrier.Release())
	check(t, <-passed)

	const n = 3
	var inside sync.WaitGroup
	inside.Add(n)
	together(t, n, func(int) error {
		s := b.session(b.client())
		double := recipe.NewDoubleBarrier(s, "double", n)
		if err := double.Enter(); err != nil {
			return err
		}
		inside.Done()
		inside.Wait()
		return double.Leave()
	})
}

// queues checks etcd's own queue recipes on ordinary keys.
func queues(t *testing.T, b *bed) {
	q := recipe.NewQueue(b.client(), "queue")
	p := recipe.NewPriorityQueue(b.client(), "priorities")
	got := make(chan string, 1)
	go func() {
		s, err := recipe.NewQueue(b.client(), "queue").Dequeue()
		got <- fmt.Sprint(s, err)
	}()
	check(t, q.Enqueue("first"))
	if s := <-got; s != "first<nil>" && s != "first <nil>" {
		t.Errorf("from the queue came %s", s)
	}
	check(t, p.Enqueue("low", 5))
	check(t, p.Enqueue("high", 1))
	for _, want := range []string{"high", "low"} {
		s, err := p.Dequeue()
		check(t, err)
		if s != want {
			t.Errorf("from the queue came %q, want %q", s, want)
		}
	}
}

// readersAndWriters checks that readers share the lock and that a writer is alone.
func readersAndWriters(t *testing.T, b *bed) {
	var mu sync.Mutex
	readers, writers := 0, 0
	together(t, 4, func(i int) error {
		m := recipe.NewRWMutex(b.session(b.client()), "rw")
		for range 5 {
			lock, unlock, count := m.RLock, m.RUnlock, &readers
			if i%2 == 0 {
				lock, unlock, count = m.Lock, m.Unlock, &writers
			}
			if err := lock(); err != nil {
				return err
			}
			mu.Lock()
			*count++
			bad := writers > 1 || writers == 1 && readers > 0
			mu.Unlock()
			if bad {
				return fmt.Errorf("%d readers and %d writers", readers, writers)
			}
			mu.Lock()
			*count--
			mu.Unlock()
			if err := unlock(); err != nil {
				return err
			}
		}
		return nil
	})
}
