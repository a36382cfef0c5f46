package worker

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Worker takes the jobs of one queue and handles them.
type Worker struct {
	jobs   Jobs
	queue  string
	o      Options
	handle func(ctx context.Context, j Job) error

	counters counters
	size     queueSize

	mu      sync.Mutex
	current *run // the last one started; nil before the first
}

// New makes a worker for a queue. It takes nothing before Start, but with Options.AutoStart.
// Errors: ErrInvalid.
func New[T any](jobs Jobs, queue string, handler Handler[T], o Options) (*Worker, error) {
	if jobs == nil || handler == nil || queue == "" {
		return nil, fmt.Errorf("%w: jobs, a queue and a handler are needed", ErrInvalid)
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	codec := o.Codec
	w := &Worker{jobs: jobs, queue: queue, o: o.withDefaults(queue)}
	w.handle = func(ctx context.Context, j Job) error {
		payload, err := decode[T](codec, j.Body)
		if err != nil {
			return &bodyError{j.MID, err}
		}
		return handler(ctx, Message[T]{Job: j, Payload: payload, Age: age(j)})
	}
	if o.AutoStart {
		w.Start()
	}
	return w, nil
}

// age is 0 also when the broker's clock is ahead of ours.
func age(j Job) time.Duration {
	if j.Enqueued.IsZero() {
		return 0
	}
	return max(time.Since(j.Enqueued), 0)
}

// Start begins to take jobs. A worker that runs goes on; one that was stopped starts again.
func (w *Worker) Start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.current != nil && !w.current.stopping() {
		return
	}
	w.current = newRun(w)
	w.current.start()
}

func (w *Worker) running() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.current != nil && !w.current.stopping()
}

// stopGrace is what handlers get to return and report after Stop gave up waiting for them.
const stopGrace = time.Second

// Stop takes no more jobs, and returns when all handlers have returned and what they say is
// reported. When ctx ends first, the contexts of the handlers end with the cause ErrStopped, and
// Stop returns the context's error when they have returned, or a second later: the jobs of handlers
// that still run come back when their locks are over. Stop is safe twice, and before Start.
func (w *Worker) Stop(ctx context.Context) error {
	w.mu.Lock()
	r := w.current
	w.mu.Unlock()
	if r == nil {
		return nil
	}
	r.stopPolling()
	select {
	case <-r.over:
		return nil
	case <-ctx.Done():
	}
	select {
	case <-r.over: // both had ended
		return nil
	default:
	}
	r.cancelHandlers(ErrStopped)
	grace := time.NewTimer(stopGrace)
	defer grace.Stop()
	select {
	case <-r.over:
		return fmt.Errorf("worker: handlers were ended: %w", ctx.Err())
	case <-grace.C:
		r.cancelReports()
		return fmt.Errorf("worker: %d jobs are still handled: %w", w.counters.handling.Load(), ctx.Err())
	}
}

// Run starts the worker, and stops it when ctx ends: handlers get grace to return, then Stop gives
// up.
func (w *Worker) Run(ctx context.Context, grace time.Duration) error {
	w.Start()
	<-ctx.Done()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	return w.Stop(last)
}
