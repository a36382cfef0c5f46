package worker_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"fiveways.dev/fiveways/worker"
	"fiveways.dev/fiveways/worker/workertest"
)

var errBroken = errors.New("connection broken")

// log collects the log output of a worker.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// count returns how many times the text occurs.
func (l *log) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), text)
}

// broken is a Jobs on which some calls fail.
type broken struct {
	*workertest.Memory
	mu    sync.Mutex
	fails map[string]int // number of calls that will fail, by method; negative: all
	calls []string       // each call and its time: "take 1.5s"
	begun time.Time
	takes []worker.TakeOptions
}

func newBroken() *broken {
	return &broken{Memory: workertest.NewMemory(), fails: map[string]int{}, begun: time.Now()}
}

func (b *broken) call(method string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls = append(b.calls, method+" "+time.Since(b.begun).String())
	if b.fails[method] == 0 {
		return nil
	}
	b.fails[method]--
	return errBroken
}

func (b *broken) set(method string, fails int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fails[method] = fails
}

// times returns the times of a method's calls, since the start.
func (b *broken) times(method string) (times []time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.calls {
		if at, ok := strings.CutPrefix(c, method+" "); ok {
			d, _ := time.ParseDuration(at)
			times = append(times, d)
		}
	}
	return times
}

func (b *broken) Take(ctx context.Context, o worker.TakeOptions) ([]worker.Job, error) {
	if err := b.call("take"); err != nil {
		return nil, err
	}
	b.mu.Lock()
	b.takes = append(b.takes, o)
	b.mu.Unlock()
	return b.Memory.Take(ctx, o)
}

func (b *broken) Done(ctx context.Context, l worker.Lease, remember time.Duration) error {
	if err := b.call("done"); err != nil {
		return err
	}
	return b.Memory.Done(ctx, l, remember)
}

func (b *broken) Fail(ctx context.Context, l worker.Lease, text string) error {
	if err := b.call("fail " + text); err != nil {
		return err
	}
	return b.Memory.Fail(ctx, l, text)
}

func (b *broken) Extend(ctx context.Context, l worker.Lease, lock time.Duration) error {
	if err := b.call("extend"); err != nil {
		return err
	}
	return b.Memory.Extend(ctx, l, lock)
}

func (b *broken) QueueStatus(ctx context.Context, queue string) (worker.QueueStatus, error) {
	if err := b.call("status"); err != nil {
		return worker.QueueStatus{}, err
	}
	return b.Memory.QueueStatus(ctx, queue)
}

// start starts a worker on queue "q". It stops at the end of the test.
func start[T any](t *testing.T, jobs worker.Jobs, handler worker.Handler[T], o worker.Options) *worker.Worker {
	t.Helper()
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	w, err := worker.New(jobs, "q", handler, o)
	must(t, err)
	w.Start()
	t.Cleanup(func() { w.Stop(context.Background()) })
	return w
}

func enqueue(t *testing.T, jobs worker.Jobs, mid, body string) {
	t.Helper()
	if _, err := jobs.Enqueue(t.Context(), "q", []byte(body), worker.EnqueueOptions{MID: mid}); err != nil {
		t.Fatal(err)
	}
}

func state(t *testing.T, jobs worker.Jobs, mid string, want worker.State) worker.JobStatus {
	t.Helper()
	s, err := jobs.Status(t.Context(), "q", mid)
	if err != nil || s.State != want {
		t.Errorf("%s is %q, %v; want %q", mid, s.State, err, want)
	}
	return s
}

// must fails the test at once if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
