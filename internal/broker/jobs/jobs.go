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
	firstHeader = "x-first-enqueued" // unix ms, int64: when the id was enqueued while it was not known
	lockHeader  = "x-lock-ms"        // int64: how long the job is leased, whatever lock the taker asks for
	errorHeader = "x-error"          // text of the last report that had one: why the job failed, or is tried again
)

// DefaultLock is how long a job is leased when neither the job nor the take sets it, ms.
const DefaultLock = 3_600_000

// MaxID is the longest id of a job, in bytes.
const MaxID = message.MaxShortStr

// Headers of a message must fit into one frame of AMQP, of which 128 KiB is the usual size, with
// what is added when it dies.
const (
	maxProperties = 64 << 10
	maxError      = 16 << 10 // of the error text; what is longer is cut off
	listedError   = 1 << 10  // of it in lists of jobs
)

// Enqueue puts a job into a queue, which it makes when it is missing. What is known of the id
// decides what comes of it: core/job.Decide. Errors: those of package broker: ErrAlreadyQueued,
// ErrLocked, ErrBackoff, ErrRejected (the queue is full), ErrTooLarge (the id, or the headers).
type Enqueue struct {
	broker.OnQueue
	ID      []byte // nil: a random one, which is put here
	Body    []byte // not kept
	Headers message.Table

	Backoff  int64 // how long it is not taken from now on
	Lock     int64 // how long it is leased, 0: as long as Take.Lock says
	TTL      int64 // how long it lives while no worker has it; 0: no end
	Priority uint8

	Update       bool // take the place of the job with this id that is queued
	Requeue      bool // wait behind the one that is locked, or done and in backoff
	ResetBackoff bool // with Update, or alone: the one that is queued has this Backoff from now on

	// The past of a job that comes from elsewhere; it counts when nothing is known of the id here.
	First       int64  // unix ms when it was first enqueued, 0: now
	Attempts    uint32 // how often it was taken
	LeasedUntil int64  // unix ms until which a worker has it, the last one of Attempts; 0: none

	Updated bool // the answer: a job with this id was there, and is changed; else the job is added

	env   message.Envelope
	first int  // place of the first-enqueued time in env
	fresh bool // the id is made up
}

// Take leases jobs that are ready, in the order of the queue.
type Take struct {
	broker.OnQueue
	Max    int   // at most this many, at least one; fewer when they are large
	Lock   int64 // for how long those that do not say it themselves, 0: DefaultLock
	Unless *Take // nothing happens when that one has got something or failed; it comes before this one in the same call
	Create bool  // the queue is made when it is missing, so that it can be waited for (broker.Session.Await)
	Plain  bool  // what is taken are messages of a queue that need not be used for jobs, and is not by this

	Jobs []Job // the answer; the slice is used again
}

// Got reports whether there is nothing to wait for.
func (t *Take) Got() bool { return len(t.Jobs) > 0 }

// Job is a job that was taken.
type Job struct {
	ID      []byte
	Env     message.Envelope // shared: not to be changed
	Attempt uint32           // how often it was taken, with this time
	Token   Token
	Lock    int64 // it is leased so long
	First   int64 // unix ms when it was first enqueued, 0: not known
}

// Token names a lease.
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

// ParseToken reads the text of a token. ok is false when it is none; no lease has the zero Token.
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

// Outcome is what became of a job that was taken.
type Outcome uint8

const (
	// Done: it is through.
	Done Outcome = iota
	// Retry: it is queued again.
	Retry
	// Failed: it is through, and its message goes to the dead-letter exchange of the queue, if
	// it has one.
	Failed
)

// Report ends a lease. Errors: ErrStale, when the lease was over already; nothing is changed then.
type Report struct {
	broker.OnQueue
	ID      []byte
	Token   Token
	Outcome Outcome
	Backoff int64  // of Retry: it is not taken again before; of Done and Failed: the id is remembered so long
	Error   []byte // of Retry and Failed: the header x-error of the message, or of its dead letter; empty: it keeps the one it has
}

// Extend sets the time of a lease. Errors: ErrStale.
type Extend struct {
	broker.OnQueue
	ID    []byte
	Token Token
	Lock  int64 // it is over so long from now on
}

// Remember has an id be known as done until a time, as a Report with a backoff does. One that is
// remembered already is so until the later of both times. Errors: ErrAlreadyQueued, ErrLocked;
// nothing is changed then.
type Remember struct {
	broker.OnQueue
	ID       []byte
	Until    int64  // unix ms
	Attempts uint32 // how often it was taken
	First    int64  // unix ms when it was first enqueued, 0: not known
}

// Status tells what is known of a job's id.
type Status struct {
	broker.OnQueue
	ID []byte
	Info
}

// Info is what is known of a job's id.
type Info struct {
	ID       []byte
	State    job.State
	Attempts uint32 // how often it was taken
	First    int64  // unix ms when it was first enqueued, 0: not known
	Backoff  int64  // of QueuedWithBackoff, DoneWithBackoff and DoneWithRequeue: what is left of it
	Lock     int64  // of Locked and LockedWithRequeue: what is left of it; 0: the message is with a consumer, without an end
	Size     int    // bytes of the body
	Priority uint8  // as it was enqueued
	Error    string // why it was tried again the last time that a report said so, "" if none did; Content has the first KiB
}

// Cancel removes a job that is queued, with the one that waits behind it. Errors: ErrLocked, when
// a worker has it, unless Force.
type Cancel struct {
	broker.OnQueue
	ID    []byte
	Force bool // also one that is leased; reports on it are stale from then on

	Cancelled bool // the answer: there was one
}

// Content lists jobs, then ids that are remembered. What is there from the first call of a
// listing to its last is listed once.
type Content struct {
	broker.OnQueue
	Cursor string // where to begin: "" is the beginning, else what Next said
	Max    int    // at most this many, at least one

	Jobs []Info // the answer; the slice is used again
	Next string // "" at the end
}

// Counts counts the jobs of a queue.
type Counts struct {
	broker.OnQueue
	Queued      int // ready to be taken
	Backoff     int // queued, and not ready yet
	Locked      int // with a worker
	Behind      int // of the locked, those with another version behind
	Done        int // ids that are remembered, without those that are queued or locked again
	DoneBackoff int // of Done, those that may not be enqueued again yet
}

// Clear removes all jobs of a queue and all ids that it remembers, but what is with consumers.
// Leases on them are stale from then on.
type Clear struct {
	broker.OnQueue
	Cleared int // the answer: how many jobs there were
}
