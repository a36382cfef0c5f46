package worker

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Options of a worker. The zero value of a field is its default.
type Options struct {
	// Name tells workers apart in logs and metrics; "" is the queue's name.
	Name string
	// Codec decodes payloads; nil is JSON, or none for payloads of type []byte.
	Codec Codec

	// Handlers is how many jobs are handled at once, Pollers how many ask for jobs at once; 0 is 1.
	// One poller takes as many jobs as there are idle handlers, so more are of use only when the
	// way to the broker is long.
	Handlers, Pollers int

	// Lock is how long the broker locks a job where the job does not say; 0 is DefaultLock. While
	// the handler runs, the worker extends the lock, each time a third of it has passed. So it is
	// also how long a job waits whose worker died: make it short (a minute) where that matters.
	Lock time.Duration
	// Timeout is how long a handler may take: then its context ends, and its job's lock is not
	// extended any more. 0 is an hour, or the job's lock where that is longer; negative is no
	// limit.
	Timeout time.Duration

	// Backoff is the longest that a poll waits at the end of the queue, as a function of the number
	// of polls that found it empty, this one counted, and not more than 5. The broker ends the wait
	// at once when there is a job. nil is ExpBackoff with factor 1 s; Always(d) is a number.
	Backoff func(dryRuns int) time.Duration
	// Throttle is a pause after every poll, as a function of the queue's size, which is at most a
	// second old. nil is none: brokers that wait need none. SlowPolls has the figures of Carmine;
	// Always(d) is a number.
	Throttle func(size int) time.Duration

	// Monitor is called after every poll, on the goroutine of the poller. nil is MonitorSize(1000,
	// 6 h).
	Monitor func(Poll)

	// AutoStart starts the worker when it is made.
	AutoStart bool

	// Log gets what goes wrong: jobs that failed (error), leases that were lost and connections
	// that broke (warn), retries (info). nil is slog.Default().
	Log *slog.Logger
}

const (
	defaultTimeout = time.Hour
	maxWorkers     = 1 << 16
	minLock        = 10 * time.Millisecond
)

// ErrInvalid is wrapped by the errors of New.
var ErrInvalid = errors.New("worker: invalid")

// Validate names the first field that is out of its range.
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

// withDefaults fills in what is not said.
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

// timeout is how long the handler of a job may take; 0 is for ever.
func (o Options) timeout(lock time.Duration) time.Duration {
	switch {
	case o.Timeout < 0:
		return 0
	case o.Timeout > 0:
		return o.Timeout
	}
	return max(defaultTimeout, lock)
}
