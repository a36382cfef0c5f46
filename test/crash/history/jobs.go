package history

import "fmt"

// JobKind is the kind of a JobEvent.
type JobKind uint8

// The kinds of events. All but the last two are requests of a client: From is before the request
// was sent, To after its answer came.
const (
	JobEnqueued JobKind = iota + 1 // MS: with this backoff
	JobTaken                       // MS: the lock time; Token, Attempt as answered
	JobLost                        // a take whose answer never came; not about one job
	JobDone                        // with Token; MS: how long to remember the id
	JobRetried                     // with Token; MS: the backoff
	JobFailed                      // with Token
	JobExtended                    // with Token; MS: the new lock time
	JobProbed                      // the id was enqueued again while it was remembered, for MS since the event Of
	JobBuried                      // the job was found in the dead-letter queue
	JobKilled                      // the broker was killed; not about one job
)

var jobKindNames = [...]string{
	JobEnqueued: "enqueued", JobTaken: "taken", JobLost: "lost", JobDone: "done", JobRetried: "retried", JobFailed: "failed",
	JobExtended: "extended", JobProbed: "probed", JobBuried: "buried", JobKilled: "killed",
}

func (k JobKind) String() string { return jobKindNames[k] }

// Answer is the broker's answer.
type Answer uint8

// The answers. Unknown: the connection broke before the answer came, so the request may have been
// done, may be done later, or never.
const (
	Unknown Answer = iota
	Good
	Stale      // the token is not that of a valid lock
	Remembered // the id is in backoff
)

var answerNames = [...]string{Unknown: "?", Good: "ok", Stale: "stale", Remembered: "remembered"}

func (a Answer) String() string { return answerNames[a] }

// JobEvent is one request about a job. Times are Unix milliseconds by the clock that the broker
// uses too.
type JobEvent struct {
	Kind     JobKind
	MID      string
	Token    int64 // grows with each take
	Worker   int
	Attempt  int
	MS       int64
	From, To int64 // To: when the answer came, or when the connection broke
	Answer   Answer
}

func (e JobEvent) String() string {
	return fmt.Sprintf("%d..%d worker %d: %s %s token=%d attempt=%d ms=%d: %s", e.From, e.To, e.Worker, e.Kind, e.MID, e.Token, e.Attempt, e.MS, e.Answer)
}

// Jobs is the record of a run with jobs. Its methods are safe for concurrent use.
type Jobs struct{ record[JobEvent] }
