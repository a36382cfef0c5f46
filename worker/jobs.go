package worker

import (
	"context"
	"errors"
	"time"
)

// Errors of Jobs. They are wrapped; match them with errors.Is. Any other error means that the
// broker could not be reached or refused the request, and that the outcome is unknown.
var (
	ErrAlreadyQueued = errors.New("worker: the job is already queued")
	ErrLocked        = errors.New("worker: the job is locked by a worker")
	ErrBackoff       = errors.New("worker: the job was done a short time ago, its id is in backoff")
	ErrStale         = errors.New("worker: the lease ended: another worker may have the job")
	ErrNoRoom        = errors.New("worker: the broker is short of memory or disk, or the queue is full")
	ErrClosed        = errors.New("worker: closed")
	ErrUnreadable    = errors.New("worker: a job's content cannot be read: it stays in its queue")
)

// Jobs is the job queues of a broker. A job has an id (mid) that is unique in its queue. When a
// method returns without an error, its effect is as durable as the broker makes it. Queues need not
// be declared: the first job creates its queue, and a missing queue is treated as empty.
type Jobs interface {
	// Enqueue adds a job to a queue. Errors: ErrAlreadyQueued, ErrLocked, ErrBackoff, all of which
	// only occur for a job with an id; ErrNoRoom.
	Enqueue(ctx context.Context, queue string, body []byte, o EnqueueOptions) (Enqueued, error)
	// EnqueueAll enqueues several jobs in order, in one round trip. There is one result per
	// request, as of Enqueue. If it returns an error, nothing is known about any of the requests.
	EnqueueAll(ctx context.Context, requests []EnqueueRequest) ([]EnqueueResult, error)
	// Take takes jobs that are ready, in the order of the queue, and locks them. No jobs and no
	// error mean that no job became ready within o.Wait. When ctx ends, Take returns the jobs that
	// it has got at that moment, or else the context's error: no job is lost in between.
	// ErrUnreadable may be returned together with jobs: it reports other jobs that were left in the
	// queue. It is returned again from time to time while they are there.
	Take(ctx context.Context, o TakeOptions) ([]Job, error)

	// Done reports success. With remember > 0 the id is remembered for that long, and enqueuing it
	// again returns ErrBackoff.
	Done(ctx context.Context, lease Lease, remember time.Duration) error
	// Retry returns the job to the queue, to be taken again after the given time. text is the
	// reason, which becomes the job's Error. An empty text keeps the previous one.
	Retry(ctx context.Context, lease Lease, after time.Duration, text string) error
	// Fail gives up the job: it is done, and its message goes with the text to the dead-letter
	// exchange, if the queue has one.
	Fail(ctx context.Context, lease Lease, text string) error
	// Extend locks the job for lock, counted from now. Done, Retry, Fail and Extend return ErrStale
	// and change nothing if the lease has ended.
	Extend(ctx context.Context, lease Lease, lock time.Duration) error

	// Status returns the state of an id, which is None if the id is unknown.
	Status(ctx context.Context, queue, mid string) (JobStatus, error)
	// QueueStatus counts a queue's jobs.
	QueueStatus(ctx context.Context, queue string) (QueueStatus, error)
	// Content lists about count jobs of a queue, starting at a cursor; "" is the start. The next
	// cursor is "" at the end. Jobs that are in the queue from the first call to the last are
	// listed at least once.
	Content(ctx context.Context, queue, cursor string, count int) (entries []Entry, next string, err error)
	// Names lists the queues that have jobs, in no particular order.
	Names(ctx context.Context) ([]string, error)
	// Clear removes all jobs and all remembered ids of queues. Leases on them become stale.
	Clear(ctx context.Context, queues ...string) error

	// Close ends waiting calls and releases resources. Taken jobs stay locked until their locks
	// expire.
	Close() error
}

// EnqueueOptions controls how a job is enqueued. The zero value means a job with a random id that
// is ready at once.
type EnqueueOptions struct {
	MID        string            // at most 255 bytes; "" means a random id
	Backoff    time.Duration     // delay before it is ready
	Lock       time.Duration     // lock time while a worker has it; 0 means the worker's setting
	Update     bool              // replace the body and the lock time of a queued job with the id
	Requeue    bool              // wait behind a job with the id that is locked or remembered
	ResetDelay bool              // restart the backoff of a queued job with the id
	Priority   int               // 0 to 255, for queues declared with priorities
	Expire     time.Duration     // remove the job if it is not taken in time; 0 means never
	Headers    map[string]string // passed to the worker that takes the job
}

// Action is what Enqueue did.
type Action string

// The actions of Enqueue.
const (
	Added   Action = "added"   // the job is new, or waits behind one with the same id
	Updated Action = "updated" // a job with the id existed and has been changed
)

// Enqueued is the result of enqueuing a job.
type Enqueued struct {
	Action Action
	MID    string
}

// EnqueueRequest is a job for EnqueueAll.
type EnqueueRequest struct {
	Queue string
	Body  []byte
	EnqueueOptions
}

// EnqueueResult is the result for one EnqueueRequest.
type EnqueueResult struct {
	Enqueued
	Err error
}

// TakeOptions controls what Take takes.
type TakeOptions struct {
	Queues []string      // tried in this order
	Count  int           // maximum number of jobs, all of one queue; 0 means one
	Lock   time.Duration // lock time for jobs that specify none; 0 means DefaultLock
	Wait   time.Duration // how long to wait for the first job; 0 means not at all
}

// DefaultLock is how long a job is locked by default.
const DefaultLock = time.Hour

// Lease is the right to report on a taken job.
type Lease struct {
	Queue string
	MID   string
	Token string // identifies this take; never empty
}

// Job is a taken job.
type Job struct {
	Lease
	Body     []byte
	Attempt  int           // 1 for the first
	Lock     time.Duration // how long it is locked, counted from the take
	Enqueued time.Time     // first enqueue by the broker's clock; zero if the broker does not know
	Headers  map[string]string
}

// State is the state of a job.
type State string

// The states of a job.
const (
	None              State = ""                    // never enqueued, or finished and forgotten
	Queued            State = "queued"              // ready to be taken
	QueuedWithBackoff State = "queued-with-backoff" // to be taken after its backoff
	Locked            State = "locked"              // a worker has it
	LockedWithRequeue State = "locked-with-requeue" // locked, and another version waits behind it
	DoneAwaitingGC    State = "done-awaiting-gc"    // done, to be forgotten soon
	DoneWithBackoff   State = "done-with-backoff"   // done, its id is remembered
	DoneWithRequeue   State = "done-with-requeue"   // done, and another version waits behind it
)

// JobStatus is what is known about an id. Fields that the broker does not report are zero.
type JobStatus struct {
	State    State
	Attempts int           // number of takes
	Enqueued time.Time     // first enqueue
	Backoff  time.Duration // remaining
	Lock     time.Duration // remaining
	Priority int           // as enqueued, if the queue keeps it
	Error    string        // reason of the last retry that gave one; Content may truncate it
}

// Entry is a job in the content of a queue.
type Entry struct {
	MID string
	JobStatus
}

// QueueStatus counts the jobs of a queue.
type QueueStatus struct {
	Queued  int // ready to be taken
	Locked  int
	Backoff int // queued with a backoff, or done and remembered
	Total   int // all of them
}
