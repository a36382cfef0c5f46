package worker_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways"
	"fiveways.dev/fiveways/test/daemon"
	"fiveways.dev/fiveways/worker"
	"fiveways.dev/fiveways/worker/workertest"
)

// serve starts a broker with the Redis protocol.
func serve(t *testing.T) *fiveways.Broker {
	t.Helper()
	b, err := fiveways.Start(fiveways.Options{Data: t.TempDir(), AMQP: "off", Redis: "127.0.0.1:0", Sync: "os"})
	must(t, err)
	t.Cleanup(func() { b.Stop(context.Background()) })
	return b
}

func dial(t *testing.T, address string) *worker.Client {
	t.Helper()
	c, err := worker.Dial(address)
	must(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

func TestClientConformance(t *testing.T) {
	address := serve(t).RedisURL()
	for name, address := range map[string]string{"RESP3": address, "RESP2": address + "?protocol=2"} {
		t.Run(name, func(t *testing.T) {
			workertest.Conformance(t, workertest.Suite{Open: func(t *testing.T) worker.Jobs { return dial(t, address) }})
		})
	}
}

// TestWorkersOverTheNetwork checks that several workers together handle each job exactly once, all
// with success.
func TestWorkersOverTheNetwork(t *testing.T) {
	address := serve(t).RedisURL()
	const n = 500
	var mu sync.Mutex
	handled := map[int]int{}
	all := make(chan struct{})
	var workers []*worker.Worker
	for range 3 {
		w, err := worker.New(dial(t, address), "q", func(_ context.Context, m worker.Message[int]) error {
			if m.Payload%10 == 0 && m.Attempt == 1 {
				return worker.Retry(nil, time.Millisecond)
			}
			mu.Lock()
			defer mu.Unlock()
			if handled[m.Payload]++; len(handled) == n {
				close(all)
			}
			return nil
		}, worker.Options{Handlers: 8, Pollers: 2, AutoStart: true, Log: (&log{}).logger()})
		must(t, err)
		workers = append(workers, w)
	}
	q := worker.Queue[int]{Jobs: dial(t, address), Name: "q"}
	var enqueuers sync.WaitGroup
	for i := range n {
		enqueuers.Go(func() {
			if _, err := q.Enqueue(t.Context(), i, worker.EnqueueOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	enqueuers.Wait()
	<-all
	var sum worker.Counts
	for _, w := range workers {
		begun := time.Now()
		if err := w.Stop(t.Context()); err != nil || time.Since(begun) > 10*time.Second {
			t.Errorf("Stop: %v after %v", err, time.Since(begun))
		}
		c := w.Status().Counts
		sum.Success += c.Success
		sum.Retry += c.Retry
		sum.Error += c.Error + c.Stale + c.Unreported + c.Unreachable
	}
	if sum.Success != n || sum.Retry != n/10 || sum.Error != 0 {
		t.Errorf("together %+v, want %d successes, %d retries, no trouble", sum, n, n/10)
	}
	for i, times := range handled {
		if times != 1 {
			t.Errorf("%d was handled %d times", i, times)
		}
	}
}

// TestBrokerComesBack checks that a client continues after a restart of its broker.
func TestBrokerComesBack(t *testing.T) {
	o := fiveways.Options{Data: t.TempDir(), AMQP: "off", Redis: daemon.FreeAddress(t), Sync: "os"}
	b, err := fiveways.Start(o)
	must(t, err)
	address := b.RedisURL()
	c := dial(t, address)
	enqueue(t, c, "m", "body")
	waits := make(chan error)
	go func() {
		_, err := c.Take(t.Context(), worker.TakeOptions{Queues: []string{"empty"}, Wait: time.Minute})
		waits <- err
	}()
	stop, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := b.Stop(stop); err != nil {
		t.Logf("stopping: %v", err)
	}
	if err := <-waits; err == nil || errors.Is(err, worker.ErrClosed) {
		t.Errorf("a take that waited when the broker went: %v; want an error that is not ErrClosed", err)
	}
	if _, err := c.Status(t.Context(), "q", "m"); err == nil {
		t.Error("the broker that is gone answers")
	}
	if b, err = fiveways.Start(o); err != nil {
		t.Fatal(err)
	}
	defer b.Stop(context.Background())
	state(t, c, "m", worker.Queued)
	jobs, err := c.Take(t.Context(), worker.TakeOptions{Queues: []string{"q"}, Wait: time.Minute})
	if err != nil || len(jobs) != 1 || string(jobs[0].Body) != "body" {
		t.Errorf("took %+v, %v", jobs, err)
	}
}

// at returns an address with another path.
func at(t *testing.T, address, path string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	must(t, err)
	u.Path = path
	return u
}

// TestVirtualHost checks that the path of the address selects the virtual host.
func TestVirtualHost(t *testing.T) {
	address := serve(t).RedisURL()
	enqueue(t, dial(t, at(t, address, "").String()), "m", "")
	for _, path := range []string{"/", "/0"} {
		state(t, dial(t, at(t, address, path).String()), "m", worker.Queued)
	}
	if _, err := dial(t, at(t, address, "/nowhere").String()).Status(t.Context(), "q", "m"); err == nil {
		t.Error("the virtual host nowhere has jobs")
	}
}

// TestLoginRefused checks that no call mistakes a refused login for its reply.
func TestLoginRefused(t *testing.T) {
	c := dial(t, fake(t, func([]string) string { return "-WRONGPASS invalid\r\n" }))
	_, enqueued := c.Enqueue(t.Context(), "q", nil, worker.EnqueueOptions{})
	results, all := c.EnqueueAll(t.Context(), []worker.EnqueueRequest{{Queue: "q"}, {Queue: "q"}})
	for _, r := range results {
		all = cmp.Or(all, r.Err)
	}
	_, taken := c.Take(t.Context(), worker.TakeOptions{Queues: []string{"q"}})
	_, waited := c.Take(t.Context(), worker.TakeOptions{Queues: []string{"q"}, Wait: time.Minute})
	_, listed := c.Names(t.Context())
	for name, err := range map[string]error{
		"enqueue": enqueued, "enqueue all": all, "take": taken, "take that waits": waited, "names": listed,
		"done": c.Done(t.Context(), worker.Lease{Queue: "q", MID: "m", Token: "1-1"}, 0), "clear": c.Clear(t.Context(), "q"),
	} {
		if err == nil || !strings.Contains(err.Error(), "WRONGPASS") {
			t.Errorf("%s: %v, want the broker's refusal", name, err)
		}
	}
}

func TestDialAddresses(t *testing.T) {
	for _, address := range []string{"", "amqp://localhost", "redis://%zz", "127.0.0.1:6380"} {
		if _, err := worker.Dial(address); !errors.Is(err, worker.ErrInvalid) {
			t.Errorf("%q: %v, want ErrInvalid", address, err)
		}
	}
	for _, address := range []string{"redis://localhost", "rediss://u:p@h:1/0", "redis://h:1/my%2Fhost", "redis://[::1]:6380/"} {
		c, err := worker.Dial(address)
		if err != nil {
			t.Errorf("%q: %v", address, err)
			continue
		}
		c.Close()
	}
}

// TestCallsShareTheWay checks that concurrent calls share few pipelines, that each gets its own
// reply, and that a caller that gives up does not affect the others.
func TestCallsShareTheWay(t *testing.T) {
	c := dial(t, serve(t).RedisURL())
	var callers sync.WaitGroup
	for i := range 300 {
		callers.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if i%7 == 0 {
				cancel()
			}
			mid := fmt.Sprint(i)
			e, err := c.Enqueue(ctx, "q", []byte(mid), worker.EnqueueOptions{MID: mid})
			switch {
			case i%7 == 0 && !errors.Is(err, context.Canceled):
				t.Errorf("%d gave up: %v", i, err)
			case i%7 != 0 && (err != nil || e.MID != mid):
				t.Errorf("%d: %+v, %v", i, e, err)
			}
		})
	}
	callers.Wait()
	if s, err := c.QueueStatus(t.Context(), "q"); err != nil || s.Queued != 300-43 {
		t.Errorf("%+v, %v; want %d queued", s, err, 300-43)
	}
}

// TestNoRoom checks the errors for a full queue and for a broker that is short of memory or disk.
func TestNoRoom(t *testing.T) {
	b, err := fiveways.Start(fiveways.Options{Data: t.TempDir(), Redis: "127.0.0.1:0", Sync: "os"})
	must(t, err)
	defer b.Stop(context.Background())
	conn, err := amqp.Dial(b.AMQPURL())
	must(t, err)
	defer conn.Close()
	ch, err := conn.Channel()
	must(t, err)
	if _, err := ch.QueueDeclare("q", true, false, false, false, amqp.Table{"x-max-length": 1, "x-overflow": "reject-publish"}); err != nil {
		t.Fatal(err)
	}
	for name, jobs := range map[string]worker.Jobs{
		"a queue that is full":           dial(t, b.RedisURL()),
		"a queue that is full, embedded": b.Jobs(),
		"a broker that is low on memory": dial(t, fake(t, func([]string) string { return "-OOM command not allowed when used memory > 'maxmemory'.\r\n" })),
		"a broker that is low on disk":   dial(t, fake(t, func([]string) string { return "-MISCONF Errors writing to the AOF file: No space left on device\r\n" })),
	} {
		var err error
		for i := 0; i < 3 && err == nil; i++ {
			_, err = jobs.Enqueue(t.Context(), "q", []byte("b"), worker.EnqueueOptions{})
		}
		if !errors.Is(err, worker.ErrNoRoom) {
			t.Errorf("%s: %v, want ErrNoRoom", name, err)
		}
		jobs.Close()
	}
}

// TestBrokerIsBack checks that the first call after a broker is up again succeeds, however many
// calls failed before.
func TestBrokerIsBack(t *testing.T) {
	address := daemon.FreeAddress(t) // no broker yet
	c := dial(t, "redis://guest:guest@"+address)
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			for range 10 * runtime.GOMAXPROCS(0) { // as many as go-redis has connections
				if _, err := c.Status(t.Context(), "q", "m"); !errors.Is(err, syscall.ECONNREFUSED) {
					t.Errorf("there is nobody, and the answer is %v", err)
				}
			}
		})
	}
	all.Wait()
	b, err := fiveways.Start(fiveways.Options{Data: t.TempDir(), AMQP: "off", Redis: address, Sync: "os"})
	must(t, err)
	defer b.Stop(context.Background())
	if _, err := c.Status(t.Context(), "q", "m"); err != nil {
		t.Error(err)
	}
	if jobs, err := c.Take(t.Context(), worker.TakeOptions{Queues: []string{"q"}, Wait: time.Millisecond}); err != nil || len(jobs) > 0 {
		t.Errorf("took %v, %v", jobs, err)
	}
}
