package worker

import (
	"context"
	"errors"
	"time"
)

// Answers of Jobs. They come wrapped; match them with errors.Is. Every other error means that the
// broker could not be asked or refused: nothing is known of what was to be done.
var (
	ErrAlreadyQueued = errors.New("worker: the job is already queued")
	ErrLocked        = errors.New("worker: the job is locked by a worker")
	ErrBackoff       = errors.New("worker: the job was done a short time ago, its id is in backoff")
	ErrStale         = errors.New("worker: the lease ended: another worker may have the job")
	ErrNoRoom        = errors.New("worker: the broker is short of memory or disk, or the queue is full")
	ErrClosed        = errors.New("worker: closed")
	ErrUnreadable    = errors.New("worker: a job's content cannot be read: it stays in its queue")
)

// Jobs is the queues of a broker, seen as queues of jobs. A job has an id (mid) that is unique in
// its queue. When a method returns without an error, what it did is as durable as the broker makes
// it. Queues need not be made: the first job makes its queue, and a missing one is an empty one.
type Jobs interface {
	// Enqueue puts a job into a queue. Errors: ErrAlreadyQueued, ErrLocked, ErrBackoff, which only
	// a job with an id can have; ErrNoRoom.
	Enqueue(ctx context.Context, queue string, body []byte, o EnqueueOptions) (Enqueued, error)
	// EnqueueAll enqueues several with one wait, in their order. The results are those of Enqueue,
	// one for each request; the error is that of the whole: nothing is known then of any of them.
	EnqueueAll(ctx context.Context, requests []EnqueueRequest) ([]EnqueueResult, error)
	// Take takes jobs that are ready, in the order of the queue, and locks them. No job and no
	// error means there was none in all the time of o.Wait. When ctx ends, a Take returns what it
	// has got at that moment, else the context's error: no job is lost between the two.
	// ErrUnreadable may come together with jobs: it tells of others that were left where they are.
	// It comes again after a while as long as they are there.
	Take(ctx context.Context, o TakeOptions) ([]Job, error)

	// Done reports success. With remember > 0 the id stays known that long, and enqueuing it again
	// is ErrBackoff.
	Done(ctx context.Context, lease Lease, remember time.Duration) error
	// Retry gives the job back, to be taken again when after has passed. The text says why; it is
	// the job's Error until another one comes. "" leaves what is there.
	Retry(ctx context.Context, lease Lease, after time.Duration, text string) error
	// Fail gives the job up: it is done, and its message goes with the text to the dead-letter
	// exchange when the queue has one.
	Fail(ctx context.Context, lease Lease, text string) error
	// Extend locks the job for lock from now on. Done, Retry, Fail and Extend are ErrStale, and
	// change nothing, when the lease is over.
	Extend(ctx context.Context, lease Lease, lock time.Duration) error

	// Status tells the state of an id; None for one that is not known.
	Status(ctx context.Context, queue, mid string) (JobStatus, error)
	// QueueStatus counts a queue's jobs.
	QueueStatus(ctx context.Context, queue string) (QueueStatus, error)
	// Content lists about count jobs of a queue from a cursor on, "" being the start. The next
	// cursor is "" when there are no more. What is in the queue from the first call to the last is
	// listed at least once.
	Content(ctx context.Context, queue, cursor string, count int) (entries []Entry, next string, err error)
	// Names lists the queues that have jobs, in no order.
	Names(ctx context.Context) ([]string, error)
	// Clear removes all jobs of queues and all ids that are remembered; leases on them are stale
	// from then on.
	Clear(ctx context.Context, queues ...string) error

	// Close ends what waits, and gives back what the Jobs holds. What is taken stays locked until
	// its time.
	Close() error
}

// EnqueueOptions is how a job is enqueued. The zero value is a job with an id of its own, ready at
// once.
type EnqueueOptions struct {
	MID        string            // the id; "" is a random one. At most 255 bytes
	Backoff    time.Duration     // it is not ready before this has passed
	Lock       time.Duration     // how long a worker may have it, instead of the worker's own time; 0 is the worker's
	Update     bool              // a queued job with the id gets this body and lock time
	Requeue    bool              // waits behind a job with the id that is locked or remembered
	ResetDelay bool              // one that is queued gets this Backoff from now on
	Priority   int               // 0 to 255, for queues that were declared with priorities
	Expire     time.Duration     // removes the job if it was not taken by then; 0 is never
	Headers    map[string]string // passed to the worker that takes it
}

// Action is what Enqueue did.
type Action string

// What Enqueue can do.
const (
	Added   Action = "added"   // the job is new, or waits behind one with its id
	Updated Action = "updated" // a job with its id was there and has its content now
)

// Enqueued is what became of an enqueued job.
type Enqueued struct {
	Action Action
	MID    string
}

// EnqueueRequest is one job of EnqueueAll.
type EnqueueRequest struct {
	Queue string
	Body  []byte
	EnqueueOptions
}

// EnqueueResult is the answer to one EnqueueRequest.
type EnqueueResult struct {
	Enqueued
	Err error
}

// TakeOptions is what to take.
type TakeOptions struct {
	Queues []string      // looked at in this order
	Count  int           // at most this many, all of one queue; 0 is one
	Lock   time.Duration // for how long they are locked where the job does not say; 0 is DefaultLock
	Wait   time.Duration // how long to wait for the first one; 0 is not at all. An enqueue wakes at once
}

// DefaultLock is how long a job is locked by default.
const DefaultLock = time.Hour

// Lease is the right to report on a job that was taken.
type Lease struct {
	Queue string
	MID   string
	Token string // names this take; empty never is one
}

// Job is a job that was taken.
type Job struct {
	Lease
	Body     []byte
	Attempt  int           // 1 the first time
	Lock     time.Duration // how long it is locked, from the take on
	Enqueued time.Time     // when it was enqueued for the first time, by the broker's clock; zero when the broker does not know
	Headers  map[string]string
}

// State is what a job is in.
type State string

// The states of a job.
const (
	None              State = ""                    // not known: never enqueued, or through and forgotten
	Queued            State = "queued"              // to be taken
	QueuedWithBackoff State = "queued-with-backoff" // to be taken when its backoff is over
	Locked            State = "locked"              // a worker has it
	LockedWithRequeue State = "locked-with-requeue" // the same, and another version waits behind it
	DoneAwaitingGC    State = "done-awaiting-gc"    // done, soon forgotten
	DoneWithBackoff   State = "done-with-backoff"   // done, its id remembered
	DoneWithRequeue   State = "done-with-requeue"   // done, and another version waits behind it
)

// JobStatus is what is known of an id. What its broker does not tell is zero.
type JobStatus struct {
	State    State
	Attempts int           // how often it was taken
	Enqueued time.Time     // for the first time
	Backoff  time.Duration // left
	Lock     time.Duration // left
	Priority int           // as it was enqueued, where the queue keeps that
	Error    string        // why it was tried again the last time that a report said so; Content may cut it off
}

// Entry is one job of a queue's content.
type Entry struct {
	MID string
	JobStatus
}

// QueueStatus counts the jobs of a queue.
type QueueStatus struct {
	Queued  int // ready to be taken
	Locked  int
	Backoff int // queued, or done and remembered, in backoff
	Total   int // all of them
}
