package semaphore

// Status is what a task may do.
type Status uint8

// These numbers are on disk; never renumber.
const (
	Wait       Status = 0 // it waits
	Acquired   Status = 1 // it runs
	TryRelease Status = 2 // it runs, and is asked to give way
)

// Config is what the rule goes by.
type Config struct {
	Active     int   // how many tasks may run; 0: no task starts
	TryRelease int   // how many of the running, counted from the last, may be asked to give way
	Ascending  bool  // the smaller number is the more urgent
	Lease      int64 // ms after which a running task that is not renewed loses its place; 0: never
}

// Task is a task as others see it.
type Task struct {
	ID       string
	Priority float64 // finite
	Status   Status
	Enqueued int64  // unix µs: when it came first
	Seq      uint64 // its number among the tasks of the semaphore, in the order in which they came
	Lease    int64  // ms, its own; 0: that of the semaphore
	Until    int64  // unix ms at which it loses its place; 0: never
	Owner    int64  // the task ends with its owner; 0: no owner
}

// Event is why a task's status changed.
type Event uint8

// These numbers are on disk; never renumber.
const (
	EventAcquired   Event = 1 // it may run
	EventTryRelease Event = 2 // it is asked to give way
	EventRetained   Event = 3 // it is not asked any more
	EventExpired    Event = 4 // its lease or its owner ended, and with it its place
	EventDeleted    Event = 5 // the semaphore was deleted
)

// Transition is a change of one task's status.
type Transition struct {
	Task  string
	Event Event
}
