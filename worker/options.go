package worker

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Options configures a worker. Zero values select the defaults.
type Options struct {
	// Name identifies the worker in logs and metrics. "" means the queue's name.
	Name string
	// Codec decodes payloads. nil means JSON, or no decoding for payloads of type []byte.
	Codec Codec

	// Handlers is how many jobs are handled concurrently, and Pollers how many concurrent polls ask
	// for jobs; 0 means 1. One poller takes as many jobs as there are idle handlers, so more
	// pollers help only if the latency to the broker is high.
	Handlers, Pollers int

	// Lock is how long the broker locks a job that does not specify a lock time; 0 means
	// DefaultLock. While the handler runs, the worker extends the lock each time a third of it has
	// passed. So it is also how long a job stays locked after its worker has died: use a short time
	// (a minute) where that matters.
	Lock time.Duration
	// Timeout is how long a handler may take. After that its context ends, and the lock of its job
	// is no longer extended. 0 means an hour, or the job's lock if that is longer. A negative value
	// means no limit.
	Timeout time.Duration

	// Backoff returns the maximum time that a poll waits on an empty queue. Its argument is the
	// number of consecutive polls that found the queue empty, including this one, limited to 5. The
	// broker ends the wait at once when there is a job. nil means ExpBackoff with factor 1 s;
	// Always(d) is constant.
	Backoff func(dryRuns int) time.Duration
	// Throttle returns a pause after every poll. Its argument is the size of the queue, at most a
	// second old. nil means no pause, which is right for brokers that support waiting. SlowPolls
	// has the values of Carmine; Always(d) is constant.
	Throttle func(size int) time.Duration

	// Monitor is called after every poll, on the goroutine of the poller. nil means
	// MonitorSize(1000, 6 h).
	Monitor func(Poll)

	// AutoStart makes New start the worker.
	AutoStart bool

	// Log receives problems: failed jobs (error), lost leases and broken connections (warn),
	// retries (info). nil means slog.Default().
	Log *slog.Logger
}

const (
	defaultTimeout = time.Hour
	maxWorkers     = 1 << 16
	minLock        = 10 * time.Millisecond
)

// ErrInvalid is wrapped by the errors of New.
var ErrInvalid = errors.New("worker: invalid")

// Validate returns an error that names the first invalid field.
func (o Options) Validate() error {
	switch {
	case o.Handlers < 0 || o.Handlers > maxWorkers:
		return fmt.Errorf("%w: Handlers is %d; 0 to %d", ErrInvalid, o.Handlers, maxWorkers)
	case o.Pollers < 0 || o.Pollers > max(o.Handlers, 1):
		return fmt.Errorf("%w: Pollers is %d; 0 to the number of handlers", ErrInvalid, o.Pollers)
	case o.Lock != 0 && o.Lock < minLock:
		return fmt.Errorf("%w: Lock is %v; at least %v", ErrInvalid, o.Lock, minLock)
	}
	return nil
}

// withDefaults returns the options with defaults for the unset fields.
func (o Options) withDefaults(queue string) Options {
	o.Name = cmp.Or(o.Name, queue)
	o.Handlers = cmp.Or(o.Handlers, 1)
	o.Pollers = cmp.Or(o.Pollers, 1)
	o.Lock = cmp.Or(o.Lock, DefaultLock)
	if o.Backoff == nil {
		o.Backoff = func(dryRuns int) time.Duration { return ExpBackoff(dryRuns, Exp{}) }
	}
	if o.Monitor == nil {
		o.Monitor = MonitorSize(1000, 6*time.Hour)
	}
	o.Log = cmp.Or(o.Log, slog.Default())
	return o
}

// timeout returns how long the handler of a job may take, or 0 for no limit.
func (o Options) timeout(lock time.Duration) time.Duration {
	switch {
	case o.Timeout < 0:
		return 0
	case o.Timeout > 0:
		return o.Timeout
	}
	return max(defaultTimeout, lock)
}
