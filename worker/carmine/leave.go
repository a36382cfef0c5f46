package carmine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"fiveways.dev/fiveways/worker"
)

// left remembers which unreadable jobs have been reported to the caller, so that each is reported
// only from time to time and not at every look at the queue.
type left struct {
	mu   sync.Mutex
	told map[worker.Lease]time.Time // without tokens
}

const (
	tellAgain = time.Minute
	maxTold   = 10_000 // remembered ids; beyond that all are reported again
	maxErrors = 10     // ids that one error names
)

// news reports whether a job should be reported now.
func (l *left) news(queue, mid string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	job := worker.Lease{Queue: queue, MID: mid}
	if last, ok := l.told[job]; ok && now.Sub(last) < tellAgain {
		return false
	}
	if l.told == nil || len(l.told) >= maxTold {
		l.told = map[worker.Lease]time.Time{}
	}
	l.told[job] = now
	return true
}

// unreadable returns the error for a job that stays in the queue.
func unreadable(queue, mid string, err error) error {
	return fmt.Errorf("%w: %q of queue %q: %w", worker.ErrUnreadable, mid, queue, err)
}

// leave returns a job that was just taken to the queue, for programs that can read it. If Redis
// cannot be reached, the job comes back when its lock expires.
func (j *Jobs) leave(ctx context.Context, job *worker.Job, cause error) error {
	_, err := j.run(context.WithoutCancel(ctx), leaveScript, job.Queue, job.MID, job.Token)
	if err != nil || j.left.news(job.Queue, job.MID, time.Now()) {
		return errors.Join(unreadable(job.Queue, job.MID, cause), err)
	}
	return nil
}
