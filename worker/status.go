package worker

import (
	"sync/atomic"
	"time"
)

// Status is what a worker is doing and has done since it was made.
type Status struct {
	Name, Queue string
	Running     bool // started, and not told to stop
	Handling    int  // jobs that are handled now
	Size        int  // jobs in the queue, in whatever state, when it was last looked at
	Counts      Counts

	QueueSize    Summary[int]           // jobs in the queue, looked at about every second
	QueueingTime Summary[time.Duration] // from the enqueue to the handler, of first attempts. Needs the same time on both machines
	HandlingTime Summary[time.Duration] // of the handler alone
}

// Counts are the ends of jobs. Success, Error and Retry are what handlers said, whether or not the
// report arrived.
type Counts struct {
	Success int64
	Error   int64 // given up, panics among them
	Retry   int64
	Backoff int64 // those of Success and Retry that named a time

	Panic       int64
	Stale       int64 // reports that came after the lease was over
	Unreported  int64 // reports that did not reach the broker while the lease lasted
	Unreachable int64 // polls that could not ask
}

type counters struct {
	handling, size                                                           atomic.Int64
	success, failure, retry, backoff, panics, stale, unreported, unreachable atomic.Int64

	queueSize    samples[int]
	queueingTime samples[time.Duration]
	handlingTime samples[time.Duration]
}

// Status is a snapshot, taken at little cost. expvar.Func(func() any { return w.Status() })
// publishes it.
func (w *Worker) Status() Status {
	c := &w.counters
	return Status{
		Name: w.o.Name, Queue: w.queue, Running: w.running(), Handling: int(c.handling.Load()), Size: int(c.size.Load()),
		Counts: Counts{
			Success: c.success.Load(), Error: c.failure.Load(), Retry: c.retry.Load(), Backoff: c.backoff.Load(),
			Panic: c.panics.Load(), Stale: c.stale.Load(), Unreported: c.unreported.Load(), Unreachable: c.unreachable.Load(),
		},
		QueueSize: c.queueSize.summary(), QueueingTime: c.queueingTime.summary(), HandlingTime: c.handlingTime.summary(),
	}
}
