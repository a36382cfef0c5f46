package jobs

import (
	"bytes"
	"strconv"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/job"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// Headers of jobs.
const (
	firstHeader = "x-first-enqueued" // unix ms, int64: when the id was enqueued and was not known before
	lockHeader  = "x-lock-ms"        // int64: duration of the lease in ms; overrides Take.Lock
	errorHeader = "x-error"          // text of the last report with an error: why the job failed, or is tried again
)

// DefaultLock is how long a job is leased when neither the job nor the take sets it, ms.
const DefaultLock = 3_600_000

// MaxID is the longest id of a job, in bytes.
const MaxID = message.MaxShortStr

// The headers of a message must fit into one AMQP frame, usually 128 KiB, together with those that
// dead-lettering adds.
const (
	maxProperties = 64 << 10
	maxError      = 16 << 10 // of the error text; the rest is truncated
	listedError   = 1 << 10  // of the error text in lists of jobs
)

// Enqueue adds a job to a queue, and creates the queue if it is missing. The outcome depends on
// what is known of the id: core/job.Decide. Errors: those of package broker: ErrAlreadyQueued,
// ErrLocked, ErrBackoff, ErrRejected (the queue is full), ErrTooLarge (the id, or the headers).
type Enqueue struct {
	broker.OnQueue
	ID      []byte // nil: a random one, which Enqueue stores here
	Body    []byte // not kept
	Headers message.Table

	Backoff  int64 // how long it cannot be taken from now on
	Lock     int64 // how long it is leased, 0: Take.Lock decides
	TTL      int64 // how long it lives while no worker has it; 0: forever
	Priority uint8

	Update       bool // replace the queued job with this id
	Requeue      bool // wait behind the job with this id that is locked, or done and in backoff
	ResetBackoff bool // with Update, or alone: give the queued job this Backoff from now on

	// The history of a job that comes from another system. It is ignored if the id is known here.
	First       int64  // unix ms when it was first enqueued, 0: now
	Attempts    uint32 // how often it was taken
	LeasedUntil int64  // unix ms until which a worker has it, in the last of Attempts; 0: none has

	Updated bool // result: a job with this id existed and was changed; else the job was added

	env   message.Envelope
	first int  // position of the first-enqueued time in env
	fresh bool // the id is generated
}

// Take leases ready jobs, in queue order.
type Take struct {
	broker.OnQueue
	Max    int   // at most this many, at least one; fewer if they are large
	Lock   int64 // lease for jobs that do not set their own, 0: DefaultLock
	Unless *Take // take nothing if that one has got something or failed; it comes before this one in the same call
	Create bool  // create a missing queue, so that the caller can wait for it (broker.Session.Await)
	Plain  bool  // take plain messages; the queue does not become a job queue

	Jobs []Job // result; the slice is reused
}

// Got reports whether Run got a job, as broker.Session.Await requires.
func (t *Take) Got() bool { return len(t.Jobs) > 0 }

// Job is a job that was taken.
type Job struct {
	ID      []byte
	Env     message.Envelope // shared: must not be changed
	Attempt uint32           // how often it was taken, including this time
	Token   Token
	Lock    int64 // ms for which it is leased
	First   int64 // unix ms when it was first enqueued, 0: unknown
}

// Token identifies a lease.
type Token struct {
	handle queue.Handle
	number uint64
}

// AppendTo appends the token as text.
func (t Token) AppendTo(dst []byte) []byte {
	dst = strconv.AppendUint(dst, uint64(t.handle), 10)
	return strconv.AppendUint(append(dst, '-'), t.number, 10)
}

func (t Token) String() string { return string(t.AppendTo(nil)) }

// ParseToken parses the text of a token; ok is false if it is not one. No lease has the zero Token.
func ParseToken(text []byte) (t Token, ok bool) {
	h, n, ok := bytes.Cut(text, []byte("-"))
	if !ok {
		return Token{}, false
	}
	handle, err1 := strconv.ParseUint(string(h), 10, 64)
	number, err2 := strconv.ParseUint(string(n), 10, 64)
	if err1 != nil || err2 != nil {
		return Token{}, false
	}
	return Token{queue.Handle(handle), number}, true
}

// Outcome is the result of working on a job.
type Outcome uint8

const (
	// Done: the job is finished.
	Done Outcome = iota
	// Retry: the job is queued again.
	Retry
	// Failed: the job is finished, and its message goes to the dead-letter exchange of the queue,
	// if it has one.
	Failed
)

// Report ends a lease. Errors: ErrStale if the lease was already over; nothing is changed then.
type Report struct {
	broker.OnQueue
	ID      []byte
	Token   Token
	Outcome Outcome
	Backoff int64  // for Retry: delay of the next take; otherwise how long the id is remembered
	Error   []byte // for Retry and Failed: becomes header x-error; empty: unchanged
}

// Extend changes the end of a lease. Errors: ErrStale.
type Extend struct {
	broker.OnQueue
	ID    []byte
	Token Token
	Lock  int64 // the lease ends this long from now
}

// Remember marks an id as done until a time, like a Report with a backoff. If the id is already
// remembered, the later time counts. Errors: ErrAlreadyQueued, ErrLocked; nothing is changed then.
type Remember struct {
	broker.OnQueue
	ID       []byte
	Until    int64  // unix ms
	Attempts uint32 // how often it was taken
	First    int64  // unix ms when it was first enqueued, 0: unknown
}

// Status looks up a job's id.
type Status struct {
	broker.OnQueue
	ID []byte
	Info
}

// Info describes a job's id.
type Info struct {
	ID       []byte
	State    job.State
	Attempts uint32 // how often it was taken
	First    int64  // unix ms when it was first enqueued, 0: unknown
	Backoff  int64  // of QueuedWithBackoff, DoneWithBackoff and DoneWithRequeue: remaining ms
	Lock     int64  // of the Locked states: remaining ms; 0: a consumer has it, without deadline
	Size     int    // bytes of the body
	Priority uint8  // as enqueued
	Error    string // why it was last tried again, "" if no report gave a reason; Content has the first KiB
}

// Cancel removes a queued job and the one that waits behind it. Errors: ErrLocked if a worker has
// it, unless Force is set.
type Cancel struct {
	broker.OnQueue
	ID    []byte
	Force bool // also a leased job; later reports on it are stale

	Cancelled bool // result: the job existed
}

// Content lists jobs, then remembered ids. A job or id that exists throughout a listing is listed
// exactly once.
type Content struct {
	broker.OnQueue
	Cursor string // start of the listing: "", or Next of the previous call
	Max    int    // at most this many, at least one

	Jobs []Info // result; the slice is reused
	Next string // "" at the end
}

// Counts counts the jobs of a queue.
type Counts struct {
	broker.OnQueue
	Queued      int // ready to be taken
	Backoff     int // queued, and not yet ready
	Locked      int // leased by a worker
	Behind      int // of the locked, those with another version waiting
	Done        int // remembered ids, without those that are queued or locked again
	DoneBackoff int // of Done, those that may not be enqueued again yet
}

// Clear removes all jobs of a queue and all ids that it remembers, except messages that consumers
// have. Leases on them become stale.
type Clear struct {
	broker.OnQueue
	Cleared int // result: how many jobs there were
}
