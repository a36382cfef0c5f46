package history

import "fmt"

// SemKind is what a SemEvent tells of.
type SemKind uint8

// The kinds of events of semaphores. All but the last are requests of clients; each task and each
// setting is one client's.
const (
	SemEnqueued SemKind = iota + 1
	SemReleased
	SemSeen // its status was asked for
	SemConfigured
	SemDeleted // with all its tasks
	SemTold    // a message has told of a transition
)

var semKindNames = [...]string{SemEnqueued: "enqueued", SemReleased: "released", SemSeen: "seen", SemConfigured: "configured", SemDeleted: "deleted", SemTold: "told"}

func (k SemKind) String() string { return semKindNames[k] }

// SemEvent is one request of a client with its answer, or one message.
type SemEvent struct {
	Kind     SemKind
	Key      string
	Task     string
	Priority float64 // SemEnqueued
	Active   int     // SemConfigured
	Try      int     // SemConfigured
	From, To int64   // of a request: when it was sent and answered, by a clock that counts; To 0: there was no answer
	Status   string  // SemEnqueued, SemSeen: as answered; "" when it was not there
	Was      bool    // SemReleased, as answered: the task was there

	// Of a SemTold:
	Semaphore string // its number, as the name of the message has it
	Event     string
	Seq       int64
	Again     bool   // the broker says that it may have come before
	Content   string // all of it
}

func (e SemEvent) String() string {
	if e.Kind == SemTold {
		return fmt.Sprintf("told %s %s#%d %s of %s again=%v", e.Key, e.Semaphore, e.Seq, e.Event, e.Task, e.Again)
	}
	return fmt.Sprintf("%s %s %s priority=%v active=%d try=%d from=%d to=%d status=%s was=%v",
		e.Kind, e.Key, e.Task, e.Priority, e.Active, e.Try, e.From, e.To, e.Status, e.Was)
}

// Answered reports whether a request had an answer.
func (e *SemEvent) Answered() bool { return e.To != 0 }

// runs reports whether an answer says that the task runs.
func (e *SemEvent) runs() bool { return e.Status == "ACQUIRED" || e.Status == "TRY_RELEASE" }

// Semaphores is the record of a run with semaphores. Its methods may be called from any goroutine.
type Semaphores struct{ record[SemEvent] }

// SemTask is a task as it is at the end, in the order of its semaphore.
type SemTask struct {
	Task     string
	Priority float64
	Status   string
}

// SemEnd is a semaphore at the end.
type SemEnd struct {
	Active, Try int
	Leased      bool // tasks go by themselves
	Tasks       []SemTask
}

// CheckSemaphores returns the breaches that a finished run shows, each as one line. All messages
// must have been read. end are the semaphores that are there at the end.
func CheckSemaphores(events []SemEvent, end map[string]SemEnd) (breaches []string) {
	r := &semRun{events: events, end: end}
	for _, rule := range []func(){r.numbers, r.course, r.places, r.tasks, r.settings, r.rule, r.last, r.turns} {
		rule()
	}
	return r.breaches
}

// semRun is a run under judgement.
type semRun struct {
	events   []SemEvent
	end      map[string]SemEnd
	breaches []string
}

func (r *semRun) breach(format string, args ...any) {
	r.breaches = append(r.breaches, fmt.Sprintf(format, args...))
}

// semTask names a task of all.
type semTask struct{ key, task string }

// of are the events of each task, in their order.
func (r *semRun) of(kinds ...SemKind) map[semTask][]SemEvent {
	by := map[semTask][]SemEvent{}
	for _, e := range r.events {
		for _, kind := range kinds {
			if e.Kind == kind {
				by[semTask{e.Key, e.Task}] = append(by[semTask{e.Key, e.Task}], e)
			}
		}
	}
	return by
}

// told are the messages without repetitions, by semaphore.
func (r *semRun) told() map[string][]SemEvent {
	by := map[string][]SemEvent{}
	for _, e := range r.events {
		if all := by[e.Semaphore]; e.Kind == SemTold && (len(all) == 0 || e.Seq > all[len(all)-1].Seq) {
			by[e.Semaphore] = append(all, e)
		}
	}
	return by
}
