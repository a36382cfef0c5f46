package worker

import (
	"context"
	"errors"
	"sync"
	"time"
)

// run is the activity of a worker from a Start to its Stop.
type run struct {
	*Worker
	idle chan struct{} // holds one token per idle handler
	take int           // maximum number of jobs per poll

	polling, handling, reporting context.Context // canceled in this order
	stopPolling                  context.CancelFunc
	cancelHandlers               context.CancelCauseFunc
	cancelReports                context.CancelFunc

	busy sync.WaitGroup // pollers and handlers
	over chan struct{}  // closed when all of them have ended
}

func newRun(w *Worker) *run {
	r := &run{Worker: w, idle: make(chan struct{}, w.o.Handlers), over: make(chan struct{})}
	for range w.o.Handlers {
		r.idle <- struct{}{}
	}
	r.take = (w.o.Handlers + w.o.Pollers - 1) / w.o.Pollers
	r.polling, r.stopPolling = context.WithCancel(context.Background())
	r.handling, r.cancelHandlers = context.WithCancelCause(context.Background())
	r.reporting, r.cancelReports = context.WithCancel(context.Background())
	return r
}

func (r *run) start() {
	for range r.o.Pollers {
		r.busy.Go(r.poll)
	}
	go func() {
		r.busy.Wait()
		r.cancelHandlers(nil)
		r.cancelReports()
		close(r.over)
	}()
}

func (r *run) stopping() bool { return r.polling.Err() != nil }

// reserve waits for an idle handler, and then reserves up to r.take idle handlers. It returns their
// number, or 0 if the worker stops.
func (r *run) reserve() int {
	select {
	case <-r.polling.Done():
		return 0
	case <-r.idle:
	}
	n := 1
	for n < r.take {
		select {
		case <-r.idle:
			n++
		default:
			return n
		}
	}
	return n
}

func (r *run) release(n int) {
	for range n {
		r.idle <- struct{}{}
	}
}

const (
	maxDryRuns = 5                // maximum argument of Options.Backoff
	minWait    = time.Millisecond // minimum wait of a poll: no busy loop for a backoff of 0
)

// unreachable is the backoff of polls while the broker cannot be reached.
var unreachable = Exp{Max: time.Minute}

// poll polls for jobs until the worker stops.
func (r *run) poll() {
	dry, failed := 0, 0
	for {
		n := r.reserve()
		if n == 0 {
			return
		}
		wait := max(r.o.Backoff(min(dry+1, maxDryRuns)), minWait)
		asked := time.Now()
		jobs, err := r.jobs.Take(r.polling, TakeOptions{Queues: []string{r.queue}, Count: n, Lock: r.o.Lock, Wait: wait})
		r.release(n - len(jobs))
		if len(jobs) == 0 && r.stopping() {
			return
		}
		taken := time.Now()
		for _, j := range jobs {
			r.counters.handling.Add(1)
			r.busy.Go(func() { r.work(j, asked, taken) })
		}
		switch {
		case errors.Is(err, ErrUnreadable):
			failed = 0
			r.o.Log.Warn("jobs are left in the queue", "worker", r.o.Name, "queue", r.queue, "error", err)
		case err != nil:
			failed++
			r.counters.unreachable.Add(1)
			r.o.Log.Warn("cannot take jobs", "worker", r.o.Name, "queue", r.queue, "times", failed, "error", err)
		case len(jobs) == 0:
			dry, failed = dry+1, 0
		default:
			dry, failed = 0, 0
		}
		size := r.size.get(r.polling, r.Worker)
		r.o.Monitor(Poll{Queue: r.queue, Size: size, DryRuns: dry, Jobs: jobs, Err: err, Log: r.o.Log})
		switch {
		case errors.Is(err, ErrClosed):
			r.o.Log.Error("worker stopped: its broker was closed", "worker", r.o.Name, "queue", r.queue)
			r.stopPolling()
			return
		case err != nil && !errors.Is(err, ErrUnreadable):
			pause(r.polling, ExpBackoff(failed, unreachable))
		case r.o.Throttle != nil:
			pause(r.polling, r.o.Throttle(size))
		}
	}
}

// pause waits for d or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// queueSize caches the size of the queue.
type queueSize struct {
	mu    sync.Mutex
	asked time.Time
}

const sizeAge = time.Second

// get asks the broker if the cached size is too old. If that fails it keeps the size: the poll
// reports the problem.
func (s *queueSize) get(ctx context.Context, w *Worker) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); s.asked.IsZero() || now.Sub(s.asked) >= sizeAge {
		s.asked = now
		if q, err := w.jobs.QueueStatus(ctx, w.queue); err == nil {
			w.counters.size.Store(int64(q.Total))
			w.counters.queueSize.add(q.Total)
		}
	}
	return int(w.counters.size.Load())
}
