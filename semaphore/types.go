package semaphore

import (
	"errors"
	"time"
)

// Errors. They come wrapped; match them with errors.Is. Every other error means that the broker
// could not be asked or refused: nothing is known of what was to be done. All that changes
// something may be asked again.
var (
	ErrNotFound = errors.New("semaphore: no such semaphore")
	ErrNotEmpty = errors.New("semaphore: it has tasks")
	ErrOrder    = errors.New("semaphore: the order cannot change while there are tasks")
	ErrInvalid  = errors.New("semaphore: invalid")
	ErrNoRoom   = errors.New("semaphore: the broker is short of memory or disk")
	ErrDenied   = errors.New("semaphore: the user has no permission")
	ErrClosed   = errors.New("semaphore: closed")
)

// Why a task does not run any more: what Acquire returns when that happens while it waits, and the
// cause of the end of its context afterwards.
var (
	ErrTryRelease = errors.New("semaphore: the task is asked to give way") // it has its place until it is released
	ErrReleased   = errors.New("semaphore: the task was released")         // by any client; also if the reason is unknown
	ErrExpired    = errors.New("semaphore: the lease of the task ended")   // or that of its owner, or the broker could not be asked in time to renew it
	ErrDeleted    = errors.New("semaphore: the semaphore was deleted")
)

// Settings of a semaphore. What is nil has its default when the semaphore is made, and stays as it
// is when it is updated.
type Settings struct {
	Active     *int           // how many tasks may run; 1000
	TryRelease *int           // how many of the running, counted from the last, may be asked to give way; 900
	Ascending  *bool          // the smaller number is the more urgent; false. Changes only while there are no tasks
	Lease      *time.Duration // after which a task that runs and is not renewed loses its place; 0 is never. Whole milliseconds
}

// Info is a semaphore as it is.
type Info struct {
	Key        string
	Active     int
	TryRelease int
	Ascending  bool
	Lease      time.Duration
	Waiting    int // tasks that wait
	Acquired   int // tasks that run and are not asked to give way
	Asked      int // tasks that run and are asked to give way
}

// Status is what a task may do.
type Status string

// The statuses of a task.
const (
	None       Status = ""            // it does not stand in line
	Wait       Status = "WAIT"        // it waits
	Acquired   Status = "ACQUIRED"    // it runs
	TryRelease Status = "TRY_RELEASE" // it runs, and is asked to give way
)

// Runs reports whether a task with this status has a place.
func (s Status) Runs() bool { return s == Acquired || s == TryRelease }

// Entry is a task that gets in line.
type Entry struct {
	Task     string        // 1 to 255 bytes, unique in its semaphore
	Priority float64       // a larger number is more urgent, unless the semaphore's order is ascending; finite
	Lease    time.Duration // its own; 0 is that of the semaphore
}

// Task is a task and where it stands. Of one that does not stand in line only the name is set.
type Task struct {
	Task     string
	Status   Status
	Priority float64
	Position int           // among all tasks of the semaphore in their order, from 1
	Enqueued time.Time     // when it came first, by the broker's clock
	Lease    time.Duration // its own; 0 is that of the semaphore
	Left     time.Duration // until it loses its place unless it is renewed; 0 is never
}

// Kind is what happened.
type Kind string

// What happens. The first five are what the broker also publishes to the exchange semaphore.events.
const (
	EventAcquired   Kind = "Acquired"   // the task runs
	EventTryRelease Kind = "TryRelease" // it is asked to give way
	EventRetained   Kind = "Retained"   // it is not asked any more
	EventExpired    Kind = "Expired"    // its lease or its owner ended: it has lost its place
	EventDeleted    Kind = "Deleted"    // the semaphore was deleted, and the task with it
	EventEnqueued   Kind = "Enqueued"   // it got in line, or its priority or lease changed; only with WatchOptions.All
	EventReleased   Kind = "Released"   // it was released; only with WatchOptions.All
	EventMissed     Kind = "Missed"     // of no task: something may have happened that is not told. Look at statuses again
)

// Event is something that happened, durably.
type Event struct {
	Kind     Kind
	Key      string // of the semaphore
	Task     string
	Status   Status // after it
	Priority float64
	Seq      uint64 // number of the transition in its semaphore, which is in the message on semaphore.events too; 0 of Enqueued, Released and Missed
}

// WatchOptions say what is to be told.
type WatchOptions struct {
	Pattern string // of keys of semaphores, as in Redis: * ? [a-z] and \ before what means itself
	Task    string // only of this one; "" is all
	All     bool   // also what is no transition: Enqueued and Released
}
