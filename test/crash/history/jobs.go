package history

import "fmt"

// JobKind is what a JobEvent is about.
type JobKind uint8

// The kinds. All are requests of a client; From is before it was sent, To after its answer came.
const (
	JobEnqueued JobKind = iota + 1 // MS: with this backoff
	JobTaken                       // MS: the lock time; Token, Attempt as told
	JobLost                        // a take whose answer never came; of any jobs
	JobDone                        // with Token; MS: the id is to be remembered so long
	JobRetried                     // with Token; MS: the backoff
	JobFailed                      // with Token
	JobExtended                    // with Token; MS: the lock time from then on
	JobProbed                      // the id was enqueued again, while it was remembered for MS from the event Of on
	JobBuried                      // the job was found in the dead-letter queue
	JobKilled                      // the broker was killed; of all jobs
)

var jobKindNames = [...]string{
	JobEnqueued: "enqueued", JobTaken: "taken", JobLost: "lost", JobDone: "done", JobRetried: "retried", JobFailed: "failed",
	JobExtended: "extended", JobProbed: "probed", JobBuried: "buried", JobKilled: "killed",
}

func (k JobKind) String() string { return jobKindNames[k] }

// Answer is what the broker said.
type Answer uint8

// The answers. Unknown: the connection ended before one came, so that the request was done, or was
// not, or is done later.
const (
	Unknown Answer = iota
	Good
	Stale      // the token is not that of a lock that holds
	Remembered // the id is in backoff
)

var answerNames = [...]string{Unknown: "?", Good: "ok", Stale: "stale", Remembered: "remembered"}

func (a Answer) String() string { return answerNames[a] }

// JobEvent is one request about a job. Times are unix ms by the clock that the broker has too.
type JobEvent struct {
	Kind     JobKind
	MID      string
	Token    int64 // grows from take to take
	Worker   int
	Attempt  int
	MS       int64
	From, To int64 // To: when the answer came, or the end of the connection
	Answer   Answer
}

func (e JobEvent) String() string {
	return fmt.Sprintf("%d..%d worker %d: %s %s token=%d attempt=%d ms=%d: %s", e.From, e.To, e.Worker, e.Kind, e.MID, e.Token, e.Attempt, e.MS, e.Answer)
}

// Jobs is the record of a run with jobs. Its methods may be called from any goroutine.
type Jobs struct{ record[JobEvent] }
