package semaphore

// Status is whether a task may run.
type Status uint8

// These numbers are on disk; never renumber.
const (
	Wait       Status = 0 // waiting
	Acquired   Status = 1 // running
	TryRelease Status = 2 // running, but asked to give way
)

// Config is the settings that the rule uses.
type Config struct {
	Active     int   // number of tasks that may run; 0: no task starts
	TryRelease int   // number of running tasks, counted from the last, that may be asked to give way
	Ascending  bool  // smaller numbers are more urgent
	Lease      int64 // ms after which a running task expires unless it is renewed; 0: never
}

// Task is a task as callers see it.
type Task struct {
	ID       string
	Priority float64 // finite
	Status   Status
	Enqueued int64  // Unix µs of its arrival
	Seq      uint64 // number of the task in the semaphore, in order of arrival
	Lease    int64  // ms, of this task; 0: that of the semaphore
	Until    int64  // Unix ms at which it expires; 0: never
	Owner    int64  // the task ends with its owner; 0: no owner
}

// Event is the reason for a change of a task's status.
type Event uint8

// These numbers are on disk; never renumber.
const (
	EventAcquired   Event = 1 // the task may run
	EventTryRelease Event = 2 // the task is asked to give way
	EventRetained   Event = 3 // the task is no longer asked to give way
	EventExpired    Event = 4 // the task was removed because its lease or its owner ended
	EventDeleted    Event = 5 // the semaphore was deleted
)

// Transition is a change of one task's status.
type Transition struct {
	Task  string
	Event Event
}
