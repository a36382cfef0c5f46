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
	current *run // the last one; nil before the first Start
}

// New creates a worker for a queue. It takes nothing before Start, unless Options.AutoStart is set.
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

// age returns the time since the job was first enqueued. It is 0 if the broker's clock is ahead of
// ours.
func age(j Job) time.Duration {
	if j.Enqueued.IsZero() {
		return 0
	}
	return max(time.Since(j.Enqueued), 0)
}

// Start starts to take jobs. It has no effect on a running worker, and restarts a stopped one.
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

// stopGrace is how long handlers have to return and report after Stop gave up waiting for them.
const stopGrace = time.Second

// Stop stops taking jobs, and returns when all handlers have returned and their results are
// reported. If ctx ends first, the contexts of the handlers end with the cause ErrStopped. Stop
// then returns the context's error when the handlers have returned, or after a second: the jobs of
// handlers that still run come back when their locks expire. Stop may be called more than once, and
// before Start.
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

// Run starts the worker, and stops it when ctx ends. It then waits at most grace for the handlers
// before Stop gives up.
func (w *Worker) Run(ctx context.Context, grace time.Duration) error {
	w.Start()
	<-ctx.Done()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	return w.Stop(last)
}
