package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// work handles a job, which was asked for and taken at these times, and reports the outcome. It
// holds the token of one handler.
func (r *run) work(j Job, asked, taken time.Time) {
	l := newLease(r, j, asked, taken)
	ctx, cancel := context.WithCancelCause(r.handling)
	l.lost = cancel
	limit := r.o.timeout(j.Lock)
	stop := func() {}
	if limit > 0 {
		ctx, stop = context.WithDeadline(ctx, taken.Add(limit))
	}
	if j.Attempt == 1 && !j.Enqueued.IsZero() {
		r.counters.queueingTime.add(age(j))
	}

	var err error
	begun := time.Now()
	defer func() { // runs also if the handler calls Goexit
		r.counters.handlingTime.add(time.Since(begun))
		l.rest()
		err = r.spare(j, err)
		o, backoff := judge(ctx, err)
		stop()
		cancel(nil)
		r.count(j, o, backoff, err)
		r.report(l, o, backoff, err)
		r.counters.handling.Add(-1)
		r.release(1)
	}()
	l.beat(ctx, asked)
	guarded(func() error { return r.Worker.handle(ctx, j) }, &err)
}

// bodyError means that a body cannot be decoded to the worker's type.
type bodyError struct {
	mid string
	err error
}

func (b *bodyError) Error() string {
	return fmt.Sprintf("worker: the body of job %q: %v", b.mid, b.err)
}
func (b *bodyError) Unwrap() error { return b.err }

// forgetful is implemented by a Jobs that may keep nothing of a job that is given up.
type forgetful interface{ FailForgets() bool }

// laterBody is the backoff of jobs whose bodies cannot be decoded.
var laterBody = Exp{Max: time.Hour}

// spare turns the failure to decode a body into a retry if giving up would remove the job
// completely: other programs may understand it.
func (r *run) spare(j Job, err error) error {
	f, ok := r.jobs.(forgetful)
	if body := (*bodyError)(nil); ok && f.FailForgets() && errors.As(err, &body) {
		return Retry(err, ExpBackoff(j.Attempt, laterBody))
	}
	return err
}

// count counts a result, and logs it if it needs attention.
func (r *run) count(j Job, o outcome, backoff time.Duration, err error) {
	c := &r.counters
	switch o {
	case success:
		c.success.Add(1)
	case retry:
		c.retry.Add(1)
		level := slog.LevelInfo
		if body := (*bodyError)(nil); errors.As(err, &body) {
			level = slog.LevelWarn
		}
		r.o.Log.Log(context.Background(), level, "job to be tried again", "worker", r.o.Name, "queue", j.Queue, "mid", j.MID, "attempt", j.Attempt, "after", backoff, "error", err)
	case failure:
		c.failure.Add(1)
		args := []any{"worker", r.o.Name, "queue", j.Queue, "mid", j.MID, "attempt", j.Attempt, "error", err}
		if p := (*PanicError)(nil); errors.As(err, &p) {
			c.panics.Add(1)
			args = append(args, "stack", string(p.Stack))
		}
		r.o.Log.Error("job failed", args...)
	}
	if backoff > 0 {
		c.backoff.Add(1)
	}
}

// reportAgain is the backoff of repeated reports.
var reportAgain = Exp{Factor: 100 * time.Millisecond, Max: 5 * time.Second}

const (
	sooner  = 8 // at least this many attempts fit into the rest of a lease
	soonest = 10 * time.Millisecond
)

// again returns the pause after the n-th attempt that did not reach the broker. It gets shorter
// towards the end of the lease, so that a broker that recovers just in time is reached in time.
func again(n int, until time.Time) time.Duration {
	return min(ExpBackoff(n, reportAgain), max(time.Until(until)/sooner, soonest))
}

// report reports the outcome of a job, and repeats that until it succeeds, the lease is over, or
// Stop gives up.
func (r *run) report(l *lease, o outcome, backoff time.Duration, cause error) {
	ctx, cancel := context.WithDeadline(r.reporting, l.until)
	defer cancel()
	for n := 1; ; n++ {
		var err error
		switch o {
		case success:
			err = r.jobs.Done(ctx, l.job.Lease, backoff)
		case retry:
			err = r.jobs.Retry(ctx, l.job.Lease, backoff, retryText(cause))
		case failure:
			err = r.jobs.Fail(ctx, l.job.Lease, failureText(cause))
		}
		switch {
		case err == nil:
			return
		case errors.Is(err, ErrStale):
			r.counters.stale.Add(1)
			r.o.Log.Warn("the lease ended before the job was done", "worker", r.o.Name, "queue", l.job.Queue, "mid", l.job.MID, "attempt", l.job.Attempt)
			return
		case errors.Is(err, ErrClosed) || ctx.Err() != nil:
			r.counters.unreported.Add(1)
			r.o.Log.Warn("the result of a job could not be reported", "worker", r.o.Name, "queue", l.job.Queue, "mid", l.job.MID, "error", err)
			return
		}
		pause(ctx, again(n, l.until))
	}
}

// retryText returns a handler's reason for a retry, or "" if it gave none.
func retryText(err error) string {
	var again *retryResult
	if !errors.As(err, &again) || again.err == nil {
		return ""
	}
	return failureText(again.err)
}

// maxFailureText is the maximum length in bytes of a stored error text.
const maxFailureText = 8 << 10

// failureText returns the text to store for a job that did not succeed: the error, and the stack of
// a panic.
func failureText(err error) string {
	text := err.Error()
	if p := (*PanicError)(nil); errors.As(err, &p) {
		text = fmt.Sprintf("%s\n\n%s", text, p.Stack)
	}
	if len(text) > maxFailureText {
		text = text[:maxFailureText]
	}
	return strings.ToValidUTF8(text, "")
}
