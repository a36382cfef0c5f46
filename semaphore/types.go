package semaphore

import (
	"errors"
	"time"
)

// Errors. They are returned wrapped; match them with errors.Is. Any other error means that the
// broker could not be reached, or refused the call for another reason: the outcome of the call is
// unknown. All calls that make changes may be repeated.
var (
	ErrNotFound = errors.New("semaphore: no such semaphore")
	ErrNotEmpty = errors.New("semaphore: it has tasks")
	ErrOrder    = errors.New("semaphore: the order cannot change while there are tasks")
	ErrInvalid  = errors.New("semaphore: invalid")
	ErrNoRoom   = errors.New("semaphore: the broker is short of memory or disk")
	ErrDenied   = errors.New("semaphore: the user has no permission")
	ErrClosed   = errors.New("semaphore: closed")
)

// Reasons why a task no longer runs. Acquire returns them if the task is removed while it waits.
// Afterwards they are the cause of its context.
var (
	ErrTryRelease = errors.New("semaphore: the task is asked to give way") // it runs until it is released
	ErrReleased   = errors.New("semaphore: the task was released")         // by any client; also if the reason is unknown
	ErrExpired    = errors.New("semaphore: the lease of the task ended")   // or its owner ended, or it could not be renewed in time
	ErrDeleted    = errors.New("semaphore: the semaphore was deleted")
)

// Settings of a semaphore. A nil field means the default when the semaphore is created, and no
// change when it is updated.
type Settings struct {
	Active     *int           // how many tasks may run; default 1000
	TryRelease *int           // how many of the last running tasks may be asked to give way; default 900
	Ascending  *bool          // lower priorities run first; default false. Fixed while there are tasks
	Lease      *time.Duration // removes running tasks that are not renewed; 0: never. Whole milliseconds
}

// Info is the state of a semaphore.
type Info struct {
	Key        string
	Active     int
	TryRelease int
	Ascending  bool
	Lease      time.Duration
	Waiting    int // waiting tasks
	Acquired   int // running tasks that are not asked to give way
	Asked      int // running tasks that are asked to give way
}

// Status is the status of a task.
type Status string

// The statuses of a task.
const (
	None       Status = ""            // the task does not exist
	Wait       Status = "WAIT"        // the task waits
	Acquired   Status = "ACQUIRED"    // the task runs
	TryRelease Status = "TRY_RELEASE" // the task runs and is asked to give way
)

// Runs reports whether a task with this status runs.
func (s Status) Runs() bool { return s == Acquired || s == TryRelease }

// Entry is a task to enqueue.
type Entry struct {
	Task     string        // 1 to 255 bytes, unique in its semaphore
	Priority float64       // finite; higher ones run first, unless the order is ascending
	Lease    time.Duration // its own; 0: the semaphore's default
}

// Task is the state of a task. If the task does not exist, only the name is set.
type Task struct {
	Task     string
	Status   Status
	Priority float64
	Position int           // among all tasks of the semaphore in order, from 1
	Enqueued time.Time     // when it was first enqueued, by the broker's clock
	Lease    time.Duration // its own; 0: the semaphore's default
	Left     time.Duration // remaining time of the lease; 0: it does not end
}

// Kind is the kind of an event.
type Kind string

// Kinds of events. The broker also publishes the first five to the exchange semaphore.events.
const (
	EventAcquired   Kind = "Acquired"   // the task runs
	EventTryRelease Kind = "TryRelease" // the task is asked to give way
	EventRetained   Kind = "Retained"   // the task is no longer asked to give way
	EventExpired    Kind = "Expired"    // its lease or its owner ended, and it was removed
	EventDeleted    Kind = "Deleted"    // the semaphore was deleted with the task
	EventEnqueued   Kind = "Enqueued"   // the task is new or was changed; only with WatchOptions.All
	EventReleased   Kind = "Released"   // the task was released; only with WatchOptions.All
	EventMissed     Kind = "Missed"     // of no task: events may be lost; read the statuses again
)

// Event is a durable event.
type Event struct {
	Kind     Kind
	Key      string // of the semaphore
	Task     string
	Status   Status // after the event
	Priority float64
	Seq      uint64 // number of the transition in its semaphore; 0 for Enqueued, Released and Missed
}

// WatchOptions select the events of a watch.
type WatchOptions struct {
	Pattern string // glob pattern of semaphore keys, as in Redis: * ? [a-z], and \ as escape
	Task    string // only events of this task; "": all
	All     bool   // also events that are not transitions: Enqueued and Released
}
