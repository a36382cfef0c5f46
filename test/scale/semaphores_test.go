package scale

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fiveways.dev/fiveways/test/brokertest"
)

func TestMain(m *testing.M) { brokertest.Main(m) }

const (
	connections = 16
	bulk        = 5000   // tasks of one request while filling
	changes     = 200000 // requests that are measured
	pipelined   = 20     // requests that are sent at once
)

// size returns the requested fraction of the full size. It skips the test if none is requested.
func size(t *testing.T) float64 {
	t.Helper()
	text := os.Getenv("SEMAPHORE_SCALE")
	if text == "" {
		t.Skip("SEMAPHORE_SCALE is not set")
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f <= 0 {
		t.Fatalf("SEMAPHORE_SCALE=%q is no number above 0", text)
	}
	return f
}

// TestOneLargeSemaphore has 100,000 tasks running and 5,000,000 waiting.
func TestOneLargeSemaphore(t *testing.T) {
	part := size(t)
	active, tasks := int(part*100_000), int(part*5_100_000)
	r := start(t, t.TempDir())
	r.do(r.redis, "SEM.CREATE", "large", "ACTIVE", active, "TRYRELEASE", active)
	r.each(tasks/bulk, func(c *redis.Client, rng *rand.Rand, n int) {
		words := []any{"SEM.ENQUEUE", "large"}
		for i := range bulk {
			words = append(words, n*bulk+i, 0.001*float64(rng.IntN(1_000_000)))
		}
		r.do(c, words...)
	})
	r.report("filled", tasks)
	next := atomic.Int64{}
	r.measure("changes of priority and releases", func(p redis.Pipeliner, rng *rand.Rand) {
		ctx := context.Background()
		p.Do(ctx, "SEM.ENQUEUE", "large", rng.IntN(tasks), rng.Float64()*1000)
		p.Do(ctx, "SEM.RELEASE", "large", next.Add(1))
	})
	r.restart()
}

// TestManySemaphores has 100,000 semaphores with 10 tasks each, of which 3 run.
func TestManySemaphores(t *testing.T) {
	part := size(t)
	semaphores := int(part * 100_000)
	r := start(t, t.TempDir())
	r.each(semaphores, func(c *redis.Client, rng *rand.Rand, n int) {
		key := fmt.Sprint("semaphore-", n)
		r.do(c, "SEM.CREATE", key, "ACTIVE", 3, "TRYRELEASE", 2)
		words := []any{"SEM.ENQUEUE", key}
		for i := range 10 {
			words = append(words, i, rng.IntN(100))
		}
		r.do(c, words...)
	})
	r.report("filled", semaphores*10)
	r.measure("releases and returns", func(p redis.Pipeliner, rng *rand.Rand) {
		ctx := context.Background()
		key, task := fmt.Sprint("semaphore-", rng.IntN(semaphores)), rng.IntN(10)
		p.Do(ctx, "SEM.RELEASE", key, task)
		p.Do(ctx, "SEM.ENQUEUE", key, task, rng.IntN(100))
	})
	r.restart()
}

// run is a broker that is measured.
type run struct {
	*testing.T
	dir   string
	b     *brokertest.Broker
	redis *redis.Client
}

func start(t *testing.T, dir string) *run {
	t.Helper()
	r := &run{T: t, dir: dir}
	r.open()
	return r
}

func (r *run) open() {
	r.Helper()
	var err error
	if r.b, err = brokertest.Start(r.Context(), r.dir, "--redis", "127.0.0.1:0", "--amqp", "127.0.0.1:0"); err != nil {
		r.Fatal(err)
	}
	r.Cleanup(r.b.Kill)
	r.redis = redis.NewClient(&redis.Options{Addr: r.b.RedisAddr(), PoolSize: connections, MaxRetries: -1, ReadTimeout: time.Minute})
	r.Cleanup(func() { r.redis.Close() })
}

// do sends a request, which must succeed.
func (r *run) do(c *redis.Client, words ...any) {
	if err := c.Do(context.Background(), words...).Err(); err != nil {
		r.Errorf("%v: %v", words[:2], err)
	}
}

// each does n operations over several connections concurrently.
func (r *run) each(n int, do func(c *redis.Client, rng *rand.Rand, n int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for k := range connections {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(k)))
			for i := int(next.Add(1)) - 1; i < n && !r.Failed(); i = int(next.Add(1)) - 1 {
				do(r.redis, rng, i)
			}
		})
	}
	all.Wait()
}

// measure logs the broker's CPU time per request. A call of two adds two requests to a pipeline.
func (r *run) measure(what string, two func(redis.Pipeliner, *rand.Rand)) {
	r.Helper()
	before, began := r.cpu(), time.Now()
	r.each(changes/pipelined, func(c *redis.Client, rng *rand.Rand, _ int) {
		p := c.Pipeline()
		for p.Len() < pipelined {
			two(p, rng)
		}
		if _, err := p.Exec(context.Background()); err != nil {
			r.Error(err)
		}
	})
	r.Logf("%s: %.1f µs of the broker's processor each, %.0f a second", what,
		float64((r.cpu()-before).Microseconds())/changes, changes/time.Since(began).Seconds())
}

func (r *run) cpu() time.Duration {
	r.Helper()
	used, err := r.b.CPU()
	if err != nil {
		r.Fatal(err)
	}
	return used
}

func (r *run) report(what string, tasks int) {
	r.Helper()
	rss, err := r.b.RSS()
	if err != nil {
		r.Fatal(err)
	}
	peak, _ := r.b.PeakRSS()
	r.Logf("%s: %d tasks, RSS %d MiB, at most %d MiB; %s of the broker's processor", what, tasks, rss>>20, peak>>20, r.cpu())
}

// restart measures starts after a kill and after a stop.
func (r *run) restart() {
	r.Helper()
	for _, how := range []string{"kill", "stop"} {
		if how == "kill" {
			r.b.Kill()
		} else if err := r.b.Stop(); err != nil {
			r.Fatal(err)
		}
		began := time.Now()
		r.open()
		r.Logf("start after a %s: %s", how, time.Since(began))
		r.report("started", 0)
	}
}
