package semaphore

// Status says whether a task may run.
type Status uint8

// These numbers are on disk; never renumber.
const (
	Wait       Status = 0 // it waits
	Acquired   Status = 1 // it runs
	TryRelease Status = 2 // it runs, and is asked to give way
)

// Config is the settings that the rule uses.
type Config struct {
	Active     int   // how many tasks may run; 0: no task starts
	TryRelease int   // how many running tasks, counted from the last, may be asked to give way
	Ascending  bool  // smaller numbers are more urgent
	Lease      int64 // ms after which a running task that is not renewed expires; 0: never
}

// Task is a task as callers see it.
type Task struct {
	ID       string
	Priority float64 // finite
	Status   Status
	Enqueued int64  // unix µs of its arrival
	Seq      uint64 // its number among the tasks of the semaphore, in order of arrival
	Lease    int64  // ms, its own; 0: the semaphore's
	Until    int64  // unix ms at which it expires; 0: never
	Owner    int64  // the task ends with its owner; 0: no owner
}

// Event is why a task's status changed.
type Event uint8

// These numbers are on disk; never renumber.
const (
	EventAcquired   Event = 1 // it may run
	EventTryRelease Event = 2 // it is asked to give way
	EventRetained   Event = 3 // it is no longer asked to give way
	EventExpired    Event = 4 // its lease or its owner ended, and the task with it
	EventDeleted    Event = 5 // the semaphore was deleted
)

// Transition is a change of one task's status.
type Transition struct {
	Task  string
	Event Event
}
