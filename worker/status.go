package worker

import (
	"sync/atomic"
	"time"
)

// Status is a snapshot of a worker's activity since it was created.
type Status struct {
	Name, Queue string
	Running     bool // started and not told to stop
	Handling    int  // jobs being handled now
	Size        int  // jobs in the queue, in any state, at the last look
	Counts      Counts

	QueueSize    Summary[int]           // jobs in the queue, sampled about once a second
	QueueingTime Summary[time.Duration] // first attempts: enqueue to handler (clock skew counts)
	HandlingTime Summary[time.Duration] // of the handler alone
}

// Counts counts finished jobs. Success, Error and Retry count what handlers returned, whether or
// not the report arrived.
type Counts struct {
	Success int64
	Error   int64 // given up, including panics
	Retry   int64
	Backoff int64 // results of Success and Retry with a backoff

	Panic       int64
	Stale       int64 // reports after the end of the lease
	Unreported  int64 // reports that did not reach the broker before the end of the lease
	Unreachable int64 // polls that did not reach the broker
}

type counters struct {
	handling, size                                                           atomic.Int64
	success, failure, retry, backoff, panics, stale, unreported, unreachable atomic.Int64

	queueSize    samples[int]
	queueingTime samples[time.Duration]
	handlingTime samples[time.Duration]
}

// Status returns a snapshot at low cost. To publish it, use expvar.Func(func() any { return
// w.Status() }).
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
