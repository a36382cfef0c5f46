package history

import "fmt"

// SemKind is the kind of a SemEvent.
type SemKind uint8

// The kinds of events of semaphores. All but the last are requests of clients. Each task and each
// setting belongs to one client.
const (
	SemEnqueued SemKind = iota + 1
	SemReleased
	SemSeen // its status was requested
	SemConfigured
	SemDeleted // with all its tasks
	SemTold    // a message reported a transition
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
	From, To int64   // of a request: when it was sent and answered, by a logical clock; To 0: there was no answer
	Status   string  // SemEnqueued, SemSeen: as answered; "" if the task was not there
	Was      bool    // SemReleased, as answered: the task existed

	// The fields of a SemTold:
	Semaphore string // as in the name of the message
	Event     string
	Seq       int64
	Again     bool   // the broker says that it may be a redelivery
	Content   string // the whole message
}

func (e SemEvent) String() string {
	if e.Kind == SemTold {
		return fmt.Sprintf("told %s %s#%d %s of %s again=%v", e.Key, e.Semaphore, e.Seq, e.Event, e.Task, e.Again)
	}
	return fmt.Sprintf("%s %s %s priority=%v active=%d try=%d from=%d to=%d status=%s was=%v",
		e.Kind, e.Key, e.Task, e.Priority, e.Active, e.Try, e.From, e.To, e.Status, e.Was)
}

// Answered reports whether a request was answered.
func (e *SemEvent) Answered() bool { return e.To != 0 }

// runs reports whether the answer says that the task runs.
func (e *SemEvent) runs() bool { return e.Status == "ACQUIRED" || e.Status == "TRY_RELEASE" }

// Semaphores is the record of a run with semaphores. Its methods are safe for concurrent use.
type Semaphores struct{ record[SemEvent] }

// SemTask is a task at the end, in the order of its semaphore.
type SemTask struct {
	Task     string
	Priority float64
	Status   string
}

// SemEnd is the final state of a semaphore.
type SemEnd struct {
	Active, Try int
	Leased      bool // tasks expire by themselves
	Tasks       []SemTask
}

// CheckSemaphores returns the breaches in the history of a finished run, one line each. All
// messages must have been read. end has the semaphores that exist at the end.
func CheckSemaphores(events []SemEvent, end map[string]SemEnd) (breaches []string) {
	r := &semRun{events: events, end: end}
	for _, rule := range []func(){r.numbers, r.course, r.places, r.tasks, r.settings, r.rule, r.last, r.turns} {
		rule()
	}
	return r.breaches
}

// semRun is a run that is being checked.
type semRun struct {
	events   []SemEvent
	end      map[string]SemEnd
	breaches []string
}

func (r *semRun) breach(format string, args ...any) {
	r.breaches = append(r.breaches, fmt.Sprintf(format, args...))
}

// semTask identifies a task.
type semTask struct{ key, task string }

// of returns the events of each task in order.
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

// told returns the messages without repetitions, by semaphore.
func (r *semRun) told() map[string][]SemEvent {
	by := map[string][]SemEvent{}
	for _, e := range r.events {
		if all := by[e.Semaphore]; e.Kind == SemTold && (len(all) == 0 || e.Seq > all[len(all)-1].Seq) {
			by[e.Semaphore] = append(all, e)
		}
	}
	return by
}
