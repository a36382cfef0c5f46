package worker

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// Message is a job with its payload.
type Message[T any] struct {
	Job
	Payload T
	Age     time.Duration // since it was enqueued for the first time; 0 when the broker does not tell
}

// Handler does a job. What it returns decides:
//   - nil: done,
//   - Done(remember): done, and the job's id is remembered that long, for de-duplication,
//   - Retry(err, after): not done; the job is ready again when after has passed,
//   - every other error, and a panic: given up, see Jobs.Fail.
//
// The context ends at the job's deadline (Options.Timeout), when the lease is lost (its cause is
// ErrStale then), and when Stop gives up waiting (ErrStopped). An error that is returned after one
// of the last two is taken for Retry(err, 0): it is not the job's fault.
type Handler[T any] func(ctx context.Context, m Message[T]) error

// ErrStopped is the cause of the end of handlers' contexts when Stop gave up waiting for them.
var ErrStopped = errors.New("worker: stopped while the job was handled")

type retryResult struct {
	err   error
	after time.Duration
}

// Retry says that a job shall be tried again when after has passed, and why.
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

// Done says that a job is done, and that its id is to be known for a while.
func Done(remember time.Duration) error { return &doneResult{remember} }

func (d *doneResult) Error() string { return fmt.Sprintf("done, and remembered for %v", d.remember) }

// PanicError is a handler's panic.
type PanicError struct {
	Value any
	Stack []byte
}

func (p *PanicError) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

// Unwrap is the panic's value when it is an error.
func (p *PanicError) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

var errGoexit = errors.New("worker: the handler ended its goroutine (runtime.Goexit)")

// guarded calls f, and makes an error of a panic. When f ends its goroutine, *err is errGoexit to
// the deferred calls of the caller.
func guarded(f func() error, err *error) {
	*err = errGoexit
	defer func() {
		if v := recover(); v != nil {
			*err = &PanicError{v, debug.Stack()}
		}
	}()
	*err = f()
}

// outcome is what is to be reported.
type outcome int

const (
	success outcome = iota
	failure
	retry
)

// judge says what the end of a handler means; backoff is the time of Done or Retry.
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
