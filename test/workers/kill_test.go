package workers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"fiveways.dev/fiveways/test/brokertest"
	"fiveways.dev/fiveways/test/daemon"
	"fiveways.dev/fiveways/worker"
)

const (
	jobs      = 1500
	kills     = 4
	aliveJobs = jobs / (kills + 1) // successes between two kills
	lock      = 3 * time.Second
	patience  = 2 * time.Minute
)

// remembered is success, with the id remembered for longer than the test takes, so that repeating
// an enqueue whose answer was lost has no effect.
var remembered = worker.Done(time.Hour)

func TestMain(m *testing.M) { brokertest.Main(m) }

// book records what handlers did.
type book struct {
	mu      sync.Mutex
	running map[int]bool
	success map[int]int
	attempt map[int]int // the highest attempt seen
	changed chan struct{}
	trouble []string
}

func (b *book) begin(m worker.Message[int]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running[m.Payload] {
		b.trouble = append(b.trouble, fmt.Sprintf("%s is handled twice at a time", m.MID))
	}
	if m.Attempt <= b.attempt[m.Payload] {
		b.trouble = append(b.trouble, fmt.Sprintf("%s: attempt %d came after %d", m.MID, m.Attempt, b.attempt[m.Payload]))
	}
	b.running[m.Payload], b.attempt[m.Payload] = true, m.Attempt
}

func (b *book) end(m worker.Message[int], success bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running[m.Payload] = false
	if success {
		b.success[m.Payload]++
	}
	select {
	case b.changed <- struct{}{}:
	default:
	}
}

func (b *book) successes() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.success)
}

// await waits until this many jobs are finished.
func (b *book) await(t *testing.T, n int) {
	t.Helper()
	over := time.After(patience)
	for b.successes() < n {
		select {
		case <-b.changed:
		case <-over:
			t.Fatalf("%d of %d jobs were handled in %v", b.successes(), n, patience)
		}
	}
}

// TestBrokerIsKilled kills the broker while workers handle jobs. Locks are shorter than the test,
// so that jobs whose reports were lost are handled again within it.
func TestBrokerIsKilled(t *testing.T) {
	dir, address := t.TempDir(), daemon.FreeAddress(t)
	b, err := brokertest.Start(t.Context(), dir, "--redis", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { b.Kill() }()

	seen := &book{running: map[int]bool{}, success: map[int]int{}, attempt: map[int]int{}, changed: make(chan struct{}, 1)}
	handler := func(ctx context.Context, m worker.Message[int]) (err error) {
		seen.begin(m)
		defer func() { seen.end(m, err == remembered) }()
		switch {
		case m.Payload%300 == 0:
			select { // longer than a lock
			case <-time.After(lock + time.Second):
			case <-ctx.Done():
				return ctx.Err()
			}
		case m.Payload%7 == 0 && m.Attempt == 1:
			return worker.Retry(errors.New("not the first time"), 10*time.Millisecond)
		}
		return remembered
	}
	var workers []*worker.Worker
	for range 2 {
		w, err := worker.New(dial(t, address), "q", handler, worker.Options{
			Handlers: 4, Lock: lock, AutoStart: true, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		workers = append(workers, w)
	}
	var enqueuers sync.WaitGroup
	client := dial(t, address)
	for i := range 4 {
		enqueuers.Go(func() {
			for n := i; n < jobs; n += 4 {
				enqueue(t, client, n)
			}
		})
	}
	for kill := 1; kill <= kills; kill++ {
		seen.await(t, kill*aliveJobs)
		b.Kill()
		if b, err = brokertest.Start(t.Context(), dir, "--redis", address); err != nil {
			t.Fatal(err)
		}
	}
	enqueuers.Wait()
	seen.await(t, jobs)
	empty(t, client)

	var sum worker.Counts
	for _, w := range workers {
		if err := w.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		c := w.Status().Counts
		sum.Success, sum.Error, sum.Unreachable, sum.Stale = sum.Success+c.Success, sum.Error+c.Error, sum.Unreachable+c.Unreachable, sum.Stale+c.Stale
	}
	for _, text := range seen.trouble {
		t.Error(text)
	}
	if sum.Error != 0 || sum.Success < jobs || sum.Unreachable == 0 {
		t.Errorf("together %+v; want %d successes, no errors, and polls that found no broker", sum, jobs)
	}
	t.Logf("%d successes of %d jobs, %d polls found no broker, %d reports were stale", sum.Success, jobs, sum.Unreachable, sum.Stale)
}

func dial(t *testing.T, address string) *worker.Client {
	t.Helper()
	c, err := worker.Dial("redis://" + address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// enqueue retries until the broker has the job, which may then already be running or finished.
func enqueue(t *testing.T, c *worker.Client, n int) {
	q := worker.Queue[int]{Jobs: c, Name: "q"}
	for {
		_, err := q.Enqueue(t.Context(), n, worker.EnqueueOptions{MID: fmt.Sprint("job-", n)})
		if err == nil || errors.Is(err, worker.ErrAlreadyQueued) || errors.Is(err, worker.ErrLocked) || errors.Is(err, worker.ErrBackoff) {
			return
		}
		if t.Context().Err() != nil {
			t.Errorf("job %d: %v", n, err)
			return
		}
		soon := time.NewTimer(20 * time.Millisecond) // the broker is down
		<-soon.C
	}
}

// empty waits until the broker has no queued or locked jobs. Lost reports are resolved when their
// locks expire.
func empty(t *testing.T, c *worker.Client) {
	t.Helper()
	for over := time.Now().Add(patience); ; {
		s, err := c.QueueStatus(t.Context(), "q")
		if err == nil && s.Queued+s.Locked == 0 {
			return
		}
		if time.Now().After(over) {
			t.Fatalf("%+v, %v; want an empty queue", s, err)
		}
		soon := time.NewTimer(20 * time.Millisecond)
		<-soon.C
	}
}
