package semaphores

import (
	"errors"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/core/semaphore"
)

// Exchange receives the events, in each virtual host with semaphores. It is a durable topic
// exchange unless a user declared it otherwise.
const Exchange = "semaphore.events"

// Defaults of a semaphore, as in the original schema.
const (
	DefaultActive     = 1000
	DefaultTryRelease = 900
)

// Limits of names, in bytes. The routing key of an event contains both.
const (
	MaxKeyBytes  = 200
	MaxTaskBytes = 255
)

// MaxEntries is the maximum number of tasks in one change.
const MaxEntries = 100_000

// Sentinels, to be matched with errors.Is. Details are in *failure.Error with Kind "semaphore" or
// "task".
var (
	ErrNotFound  = errors.New("no such semaphore")
	ErrNoTask    = errors.New("no such task")
	ErrDeleted   = errors.New("the semaphore was deleted")
	ErrNotEmpty  = errors.New("the semaphore has tasks")
	ErrOrder     = errors.New("the order cannot change while there are tasks")
	ErrInvalid   = errors.New("invalid value") // Error.Arg is active, try_release, lease, priority, key, task
	ErrTooMany   = errors.New("no memory for more tasks")
	ErrDiskFull  = errors.New("no space on the disk for more tasks")
	ErrNotActive = errors.New("the task does not run")
)

// Settings are the values that Create and Update set; nil keeps the current value, or the default.
type Settings struct {
	Active, TryRelease *int
	Ascending          *bool
	Lease              *int64 // ms
}

// Info describes a semaphore.
type Info struct {
	ID         uint64 // unique in the broker, never reused; above 0
	Key        string
	Config     semaphore.Config
	Waiting    int
	Acquired   int
	TryRelease int
	Created    int64 // unix ms
}

// State is a task and its position.
type State struct {
	semaphore.Task
	Found    bool
	Position int // among all tasks of the semaphore in rule order, from 1
}

// Change is an operation on one semaphore together with its result: the types of this package that
// embed Of. A value must not be used by two calls at once.
type Change interface {
	of() *Of
	needs() string // the permission
	check() error  // validates the arguments
	do(r *round) error
}

// answering is a change whose result depends on what the rule decides.
type answering interface {
	Change
	answer(r *round)
}

// Of names the semaphore of a change and holds its error.
type Of struct {
	Key string
	Err error // errors of all changes: failure.ErrAccessRefused, ErrNotFound, ErrInvalid
}

func (o *Of) of() *Of { return o }

// Create creates a semaphore; an existing one is left unchanged. Needs configure.
type Create struct {
	Of
	Settings
	Info    Info
	Created bool
}

// Update changes the settings of a semaphore. Needs configure. Errors: ErrOrder.
type Update struct {
	Of
	Settings
	Create  bool // create it if it does not exist
	Info    Info
	Created bool // it was created
}

// Delete deletes a semaphore. Each of its tasks gets the event Deleted. Needs configure. Errors:
// ErrNotEmpty.
type Delete struct {
	Of
	IfEmpty bool
	Missing bool // result: the semaphore did not exist, which is no error
}

// Entry is a task to enqueue.
type Entry struct {
	Task     string
	Priority float64 // not NaN, not infinite
	Lease    int64   // ms; 0: the semaphore's
	Owner    int64   // the task is removed when its owner ends (Manager.EndOwners); 0: no owner
}

// Enqueue adds tasks to the semaphore, or changes the priority, lease and owner of existing ones.
// The rule runs once, after all of them. Needs write.
type Enqueue struct {
	Of
	Entries []Entry
	States  []State // the states after the immediate transitions
	Added   int     // number of new tasks
}

// Release removes tasks from the semaphore, running or waiting. Missing tasks are no error. Needs
// write.
type Release struct {
	Of
	Tasks    []string
	Released []bool
}

// Renew restarts the leases of running tasks. Needs write.
type Renew struct {
	Of
	Tasks   []string
	Renewed []bool // false: the task does not run
}

// Status returns the state of tasks. Needs read.
type Status struct {
	Of
	Tasks  []string
	States []State
}

// Look returns the settings and counts of a semaphore. Needs read.
type Look struct {
	Of
	Info Info
}

// Page lists tasks in rule order. Needs read.
type Page struct {
	Of
	From   int                // position of the first task, from 1
	Limit  int                // maximum number of tasks; 0: 100
	Only   []semaphore.Status // empty: all
	States []State
	Next   int // From of the next page; 0: this was the last page
}

// Scan lists tasks in no particular order and tolerates concurrent changes: a task that exists
// throughout is returned at least once, and may be returned twice if tasks were removed between
// pages. It returns no positions. Needs read.
type Scan struct {
	Of
	From   uint32  // Next of the previous page, 0: from the beginning
	Limit  int     // maximum number of tasks; 0: 100
	States []State // overwritten by the next page of the same Scan
	Next   uint32  // 0: this was the last page
}

// Expect checks a condition in order with the other changes of a call. With Group.Must, a condition
// that does not hold rejects the whole call. Needs read. Errors: failure.ErrStale (it does not
// hold).
type Expect struct {
	Of
	Task string // "": the condition concerns the semaphore alone
	// Holds checks the semaphore, if it exists, and the task. It runs under the manager's lock and
	// must not call the manager.
	Holds func(i Info, there bool, s State) bool
}

// Event is a durable change as reported to a watcher.
type Event struct {
	VHost, Key string
	Event      semaphore.Event // 0: no transition (enqueued, changed, released, or of the semaphore)
	Task       semaphore.Task  // after the event; for a removed task its last state
	Was        semaphore.Task  // before the event; without ID: it did not exist
	Info       *Info           // set if the semaphore was created, changed or (Gone) deleted
	Gone       bool            // the task or semaphore no longer exists
	Seq        uint64          // number of the transition in the semaphore, in log order; 0 when Event is 0
	Time       int64           // unix ms

	of *sem
}

// WatchOptions select the events that a watcher gets.
type WatchOptions struct {
	Key    string // "": all semaphores that the user may read
	Prefix bool   // all semaphores whose key begins with Key
	Task   string // "": all tasks
	All    bool   // also events that are not transitions (Event 0)
}

// Group is committed atomically with the changes.
type Group struct {
	Commands []broker.Command // run before the changes; a failed condition rejects the changes
	Tx       *broker.Tx       // or a transaction to commit
	Must     bool             // a failed change rejects the whole group
}
