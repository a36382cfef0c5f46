package worker

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// Message is a job with its decoded payload.
type Message[T any] struct {
	Job
	Payload T
	Age     time.Duration // since it was first enqueued; 0 if unknown
}

// Handler handles a job. Its result decides the outcome:
//   - nil: done,
//   - Done(remember): done, and the job's id is remembered that long, for de-duplication,
//   - Retry(err, after): not done; the job is ready again when after has passed,
//   - every other error, and a panic: given up, see Jobs.Fail.
//
// The context ends at the job's deadline (Options.Timeout), when the lease is lost (with the cause
// ErrStale), and when Stop gives up waiting (with the cause ErrStopped). An error that is returned
// after one of the last two counts as Retry(err, 0): it is not the job's fault.
type Handler[T any] func(ctx context.Context, m Message[T]) error

// ErrStopped is the cause with which the contexts of handlers end when Stop gives up waiting.
var ErrStopped = errors.New("worker: stopped while the job was handled")

type retryResult struct {
	err   error
	after time.Duration
}

// Retry returns an error with which a handler asks for a retry of its job after the given time. err
// is the reason.
//
//	return worker.Retry(err, worker.ExpBackoff(m.Attempt, worker.Exp{Max: time.Hour}))
func Retry(err error, after time.Duration) error { return &retryResult{err, after} }

func (r *retryResult) Error() string {
	if r.err == nil {
		return fmt.Sprintf("to be tried again in %v", r.after)
	}
	return fmt.Sprintf("to be tried again in %v: %v", r.after, r.err)
}

func (r *retryResult) Unwrap() error { return r.err }

type doneResult struct{ remember time.Duration }

// Done returns an error with which a handler reports that its job is done, and that its id should
// be remembered for that time.
func Done(remember time.Duration) error { return &doneResult{remember} }

func (d *doneResult) Error() string { return fmt.Sprintf("done, and remembered for %v", d.remember) }

// PanicError is the error for a panic of a handler.
type PanicError struct {
	Value any
	Stack []byte
}

func (p *PanicError) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// Unwrap returns the value of the panic if it is an error.
func (p *PanicError) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

var errGoexit = errors.New("worker: the handler ended its goroutine (runtime.Goexit)")

// guarded calls f and converts a panic to an error. If f calls Goexit, the caller's deferred
// functions see errGoexit in *err.
func guarded(f func() error, err *error) {
	*err = errGoexit
	defer func() {
		if v := recover(); v != nil {
			*err = &PanicError{v, debug.Stack()}
		}
	}()
	*err = f()
}

// outcome is the outcome to report.
type outcome int

const (
	success outcome = iota
	failure
	retry
)

// judge returns the outcome for a handler's result. backoff is the time given with Done or Retry.
func judge(ctx context.Context, err error) (o outcome, backoff time.Duration) {
	var again *retryResult
	var done *doneResult
	switch cause := context.Cause(ctx); {
	case err == nil:
		return success, 0
	case errors.As(err, &again):
		return retry, again.after
	case errors.As(err, &done):
		return success, done.remember
	case errors.Is(cause, ErrStale), errors.Is(cause, ErrStopped):
		return retry, 0
	}
	return failure, 0
}
