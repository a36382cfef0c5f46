package worker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// lease keeps a job locked while its handler runs.
type lease struct {
	run  *run
	job  Job
	lost context.CancelCauseFunc // cancels the handler's context

	mu      sync.Mutex
	until   time.Time // when the lock ends, as far as known
	timer   *time.Timer
	resting bool // the handler has returned: the lock is no longer extended
	failed  int  // consecutive attempts that did not reach the broker
}

// newLease returns the lease of a job that was asked for and answered at these times. The broker
// locked it at some moment in between. The lock counts from the first, because an answer may be
// slow; but the poll may also have waited for the job, so the first extension, which is sent at
// once if so much time has passed, has at least a third of the lock to succeed.
func newLease(r *run, j Job, asked, answered time.Time) *lease {
	until := asked.Add(j.Lock)
	if first := answered.Add(j.Lock / 3); until.Before(first) {
		until = first
	}
	return &lease{run: r, job: j, until: until}
}

// beat starts to extend the lock each time a third of it has passed, the first time a third of it
// after the job was asked for, until the handler returns or its context ends.
func (l *lease) beat(ctx context.Context, asked time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer = time.AfterFunc(time.Until(asked.Add(l.job.Lock/3)), func() { l.extend(ctx) })
}

// rest stops extending. An attempt in progress may still succeed, which does no harm: the report
// ends the lease.
func (l *lease) rest() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.resting = true
	if l.timer != nil {
		l.timer.Stop()
	}
}

// extend extends the lock. It runs on the timer's goroutine, one call at a time.
func (l *lease) extend(ctx context.Context) {
	l.mu.Lock()
	until := l.until
	over := l.resting || ctx.Err() != nil
	l.mu.Unlock()
	if over {
		return
	}
	asked := time.Now()
	try, cancel := context.WithDeadline(ctx, until)
	err := l.run.jobs.Extend(try, l.job.Lease, l.job.Lock)
	cancel()

	l.mu.Lock()
	defer l.mu.Unlock()
	if l.resting || ctx.Err() != nil {
		return
	}
	now := time.Now()
	next := asked.Add(l.job.Lock / 3).Sub(now) // at once after a slow answer
	switch {
	case err == nil:
		l.until, l.failed = asked.Add(l.job.Lock), 0
	case errors.Is(err, ErrStale):
		l.lost(err)
		return
	case !now.Before(l.until):
		l.lost(fmt.Errorf("%w: the broker could not be reached to extend it: %w", ErrStale, err))
		return
	default:
		l.failed++
		next = min(again(l.failed, l.until), l.until.Sub(now), l.job.Lock/3)
	}
	l.timer.Reset(next)
}
