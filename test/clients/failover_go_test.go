package clients

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"fiveways.dev/fiveways/semaphore"
	"fiveways.dev/fiveways/worker"
)

const (
	// callPatience is longer than a node lets a client wait for a leader.
	callPatience = 20 * time.Second
	// goPause is the pause between two numbers, and before a retry.
	goPause = 10 * time.Millisecond
	// goBacklog is the maximum number of numbers that were put and not taken.
	goBacklog = 10
)

// errBroken is an error after which nothing is retried.
var errBroken = errors.New("the client does not recover")

// numbers is a store of numbers that a client uses.
type numbers interface {
	// put stores a number. After an error it may be stored.
	put(ctx context.Context, n int) error
	// take takes and settles all numbers that there are. Numbers returned with an error may be
	// settled.
	take(ctx context.Context) ([]int, error)
	// close closes the client, and returns any other error that it found.
	close(ctx context.Context) error
}

// goAtWork starts a client in Go that puts and takes numbers.
func goAtWork(s, t *testing.T, open func(ctx context.Context, nodes []string) (numbers, error), nodes []string) *atWork {
	w, ctx := newAtWork(t)
	q, err := open(ctx, nodes)
	if err != nil {
		s.Fatal(err)
	}
	l := &ledger{numbers: q, puts: map[int]int{}, taken: map[int]int{}, open: map[int]bool{}}
	go func() {
		defer close(w.ended)
		if err := errors.Join(l.work(ctx, w), q.close(context.WithoutCancel(ctx))); err != nil {
			w.ended <- err
		}
	}()
	return w
}

// ledger records what was put and taken.
type ledger struct {
	numbers
	puts, taken map[int]int  // how often, by number
	open        map[int]bool // put, but neither taken nor possibly settled
}

// work puts and takes numbers until the client is to finish, and then takes what is left.
func (l *ledger) work(ctx context.Context, w *atWork) error {
	proof := 1 // the first number since the last request; 0: there was none
	for n := 1; ; n++ {
		if err := l.insist(ctx, func(ctx context.Context) error { l.puts[n]++; return l.put(ctx, n) }); err != nil {
			return fmt.Errorf("put: %w", err)
		}
		l.open[n] = true
		if err := l.takeTo(ctx, goBacklog); err != nil {
			return err
		}
		if l.taken[proof] > 0 {
			proof = 0
			w.works <- time.Now()
		} else if !l.open[proof] && proof != 0 {
			proof = n + 1 // it is unknown whether it was taken
		}
		select {
		case _, more := <-w.again:
			if !more {
				return l.takeTo(ctx, 0)
			}
			proof = n + 1
		case <-time.After(goPause):
		}
	}
}

// takeTo takes numbers until at most this many are left.
func (l *ledger) takeTo(ctx context.Context, most int) error {
	for {
		err := l.insist(ctx, func(ctx context.Context) error {
			got, err := l.take(ctx)
			for _, n := range got {
				delete(l.open, n)
				if err != nil {
					continue
				}
				if l.taken[n]++; l.taken[n] > l.puts[n] {
					return fmt.Errorf("%w: %d was settled, and comes again", errBroken, n)
				}
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("take: %w; not taken: %v", err, l.open)
		}
		if len(l.open) <= most {
			return nil
		}
	}
}

// insist repeats a call until it succeeds. A call without an answer fails: a user would wait for it
// in vain.
func (l *ledger) insist(ctx context.Context, call func(context.Context) error) error {
	var before error
	for {
		limited, cancel := context.WithTimeout(ctx, callPatience)
		err := call(limited)
		hangs := limited.Err() != nil
		cancel()
		switch {
		case err == nil || errors.Is(err, errBroken):
			return err
		case hangs:
			return fmt.Errorf("%w; before: %w", err, before)
		}
		before = err
		<-time.After(goPause)
	}
}

// pgxNumbers posts and consumes in transactions. Its URL has the addresses of all nodes.
type pgxNumbers struct{ pool *pgxpool.Pool }

func newPGX(ctx context.Context, nodes []string) (numbers, error) {
	pool, err := pgxpool.New(ctx, "postgres://guest@"+strings.Join(nodes, ",")+"/fiveways?sslmode=disable")
	if err != nil {
		return nil, err
	}
	_, err = pool.Exec(ctx, "select mbus4.create_queue('failover', 4)")
	return pgxNumbers{pool}, err
}

func (p pgxNumbers) put(ctx context.Context, n int) error {
	_, err := p.pool.Exec(ctx, "select mbus4.post('failover', hstore('n', $1::text))", strconv.Itoa(n))
	return err
}

func (p pgxNumbers) take(ctx context.Context) (got []int, err error) {
	err = pgx.BeginFunc(ctx, p.pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, "select (data->'n')::int from mbus4.consume('failover')")
		if err == nil {
			got, err = pgx.CollectRows(rows, pgx.RowTo[int])
		}
		return err
	})
	return got, err
}

func (p pgxNumbers) close(context.Context) error {
	p.pool.Close()
	return nil
}

// redisNumbers are jobs. The client knows one address, unless its user provides a dial function.
type redisNumbers struct{ *redis.Client }

func newGoRedis(_ context.Context, nodes []string) (numbers, error) {
	return redisNumbers{redis.NewClient(&redis.Options{
		Addr: strings.Join(nodes, ","),
		Dialer: func(ctx context.Context, network, addr string) (nc net.Conn, err error) {
			for node := range strings.SplitSeq(addr, ",") {
				if nc, err = (&net.Dialer{}).DialContext(ctx, network, node); err == nil {
					break
				}
			}
			return nc, err
		},
	})}, nil
}

// If the id exists already, an earlier attempt has stored it. It may also have been taken.
func (r redisNumbers) put(ctx context.Context, n int) error {
	err := r.Do(ctx, "JOB.ENQUEUE", "failover.redis", n, "ID", n).Err()
	if redis.HasErrorPrefix(err, "ALREADYQUEUED") || redis.HasErrorPrefix(err, "LOCKED") {
		return nil
	}
	return err
}

func (r redisNumbers) take(ctx context.Context) ([]int, error) {
	jobs, err := r.Do(ctx, "JOB.TAKE", "failover.redis", "LOCK", 2000).Slice() // if the answer is lost, the job comes again after the lock time
	if err != nil || len(jobs) == 0 {
		return nil, err
	}
	job := jobs[0].(map[any]any)
	n, err := strconv.Atoi(job["body"].(string))
	if err != nil {
		return nil, fmt.Errorf("%w: %v", errBroken, job)
	}
	return []int{n}, r.Do(ctx, "JOB.DONE", "failover.redis", job["mid"], job["token"]).Err()
}

func (r redisNumbers) close(context.Context) error { return r.Client.Close() }

// etcdNumbers are keys that are watched. The client has the addresses of all nodes.
type etcdNumbers struct {
	*clientv3.Client
	watch clientv3.WatchChan
	alive <-chan *clientv3.LeaseKeepAliveResponse
}

func newClientV3(ctx context.Context, nodes []string) (numbers, error) {
	c, err := clientv3.New(clientv3.Config{Endpoints: nodes, Logger: zap.NewNop()})
	if err != nil {
		return nil, err
	}
	lease, err := c.Grant(ctx, 10)
	if err != nil {
		return nil, err
	}
	e := etcdNumbers{Client: c, watch: c.Watch(ctx, "failover/", clientv3.WithPrefix())}
	if _, err = c.Put(ctx, "failover-lease", "", clientv3.WithLease(lease.ID)); err != nil {
		return nil, err
	}
	e.alive, err = c.KeepAlive(ctx, lease.ID)
	return e, err
}

func (e etcdNumbers) put(ctx context.Context, n int) error {
	_, err := e.Put(ctx, fmt.Sprint("failover/", n), strconv.Itoa(n))
	return err
}

func (e etcdNumbers) take(ctx context.Context) (got []int, err error) {
	select {
	case r, open := <-e.watch:
		if r.Err() != nil || !open {
			return nil, fmt.Errorf("%w: the watch has ended: %w", errBroken, r.Err())
		}
		for _, event := range r.Events {
			n, err := strconv.Atoi(string(event.Kv.Value))
			if err != nil {
				return nil, fmt.Errorf("%w: %v", errBroken, event)
			}
			got = append(got, n)
		}
	case _, open := <-e.alive:
		if !open {
			return nil, fmt.Errorf("%w: the lease has ended", errBroken)
		}
	case <-time.After(goPause):
	}
	return got, nil
}

func (e etcdNumbers) close(ctx context.Context) error {
	defer e.Client.Close()
	got, err := e.Get(ctx, "failover-lease")
	if err == nil && got.Count != 1 {
		err = errors.New("the key of a lease that was kept alive is gone")
	}
	return err
}

// workerNumbers are the jobs of a worker.
type workerNumbers struct {
	jobs    *worker.Client
	worker  *worker.Worker
	handled chan int
	seen    map[int]bool // a job is handled at least once
}

func newWorker(_ context.Context, nodes []string) (numbers, error) {
	jobs, err := worker.Dial("redis://" + strings.Join(nodes, ","))
	if err != nil {
		return nil, err
	}
	w := &workerNumbers{jobs: jobs, handled: make(chan int), seen: map[int]bool{}}
	w.worker, err = worker.New(jobs, "failover.worker", func(ctx context.Context, m worker.Message[int]) error {
		select {
		case w.handled <- m.Payload:
		case <-ctx.Done():
		}
		return ctx.Err()
	}, worker.Options{Lock: 2 * time.Second, AutoStart: true, Log: slog.New(slog.DiscardHandler)})
	return w, err
}

func (w *workerNumbers) put(ctx context.Context, n int) error {
	_, err := w.jobs.Enqueue(ctx, "failover.worker", []byte(strconv.Itoa(n)), worker.EnqueueOptions{MID: strconv.Itoa(n)})
	if errors.Is(err, worker.ErrAlreadyQueued) || errors.Is(err, worker.ErrLocked) {
		return nil
	}
	return err
}

func (w *workerNumbers) take(context.Context) ([]int, error) {
	select {
	case n := <-w.handled:
		if !w.seen[n] {
			w.seen[n] = true
			return []int{n}, nil
		}
	case <-time.After(goPause):
	}
	return nil, nil
}

func (w *workerNumbers) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callPatience)
	defer cancel()
	return errors.Join(w.worker.Stop(ctx), w.jobs.Close())
}

// semaphoreNumbers are tasks that run one after another, beside one that runs all the time.
type semaphoreNumbers struct {
	*semaphore.Manager
	always context.Context // of the task that runs all the time
	ran    []int
}

func newSemaphore(ctx context.Context, nodes []string) (numbers, error) {
	m, err := semaphore.Dial("redis://" + strings.Join(nodes, ","))
	if err != nil {
		return nil, err
	}
	s := &semaphoreNumbers{Manager: m}
	if _, err = m.GetOrCreate(ctx, "failover", semaphore.Settings{Active: new(2), Lease: new(10 * time.Second)}); err == nil {
		s.always, err = m.Acquire(ctx, "failover", "always", 1)
	}
	return s, err
}

func (s *semaphoreNumbers) put(ctx context.Context, n int) error {
	if s.always.Err() != nil {
		return fmt.Errorf("%w: the task has lost its place: %w", errBroken, context.Cause(s.always))
	}
	_, err := s.Acquire(ctx, "failover", strconv.Itoa(n), 0)
	if err == nil {
		_, err = s.Semaphore("failover").Release(ctx, strconv.Itoa(n))
	}
	if err == nil {
		s.ran = append(s.ran, n)
	}
	return err
}

func (s *semaphoreNumbers) take(context.Context) ([]int, error) {
	ran := s.ran
	s.ran = nil
	return ran, nil
}

func (s *semaphoreNumbers) close(ctx context.Context) error {
	runs, err := s.Semaphore("failover").Status(ctx, "always")
	if err == nil && runs.Status != semaphore.Acquired {
		err = fmt.Errorf("the task that was renewed is %v", runs)
	}
	return errors.Join(err, s.Manager.Close())
}
