package semaphores

import (
	"errors"

	"fiveways/internal/broker"
	"fiveways/internal/core/semaphore"
)

// Exchange is where events go, in each virtual host with semaphores: a durable topic exchange, unless somebody declared another.
const Exchange = "semaphore.events"

// Defaults of a semaphore, those of the seed's schema.
const (
	DefaultActive     = 1000
	DefaultTryRelease = 900
)

// Limits of names, in bytes: a routing key holds a semaphore's and that of an event.
const (
	MaxKeyBytes  = 200
	MaxTaskBytes = 255
)

// MaxEntries is how many tasks one change may be about.
const MaxEntries = 100_000

// Sentinels, matched with errors.Is; details travel in *broker.Error with Kind "semaphore" or "task".
var (
	ErrNotFound  = errors.New("no such semaphore")
	ErrNoTask    = errors.New("no such task")
	ErrDeleted   = errors.New("the semaphore was deleted")
	ErrNotEmpty  = errors.New("the semaphore has tasks")
	ErrOrder     = errors.New("the order cannot change while there are tasks")
	ErrInvalid   = errors.New("invalid value") // Error.Arg names it: active, try_release, lease, priority, key, task
	ErrTooMany   = errors.New("no memory for more tasks")
	ErrDiskFull  = errors.New("no space on the disk for more tasks")
	ErrNotActive = errors.New("the task does not run")
)

// Settings are what Create and Update say of a semaphore; nil leaves a value as it is, or at its default.
type Settings struct {
	Active, TryRelease *int
	Ascending          *bool
	Lease              *int64 // ms
}

// Info describes a semaphore.
type Info struct {
	ID         uint64 // unique in the broker for ever; above 0
	Key        string
	Config     semaphore.Config
	Waiting    int
	Acquired   int
	TryRelease int
	Created    int64 // unix ms
}

// State is a task and where it stands.
type State struct {
	semaphore.Task
	Found    bool
	Position int // among all tasks of the semaphore in their order, from 1
}

// Change is something to do with one semaphore, and its answer: the types of this package that embed Of. One is used for one call at a time.
type Change interface {
	of() *Of
	needs() string // the permission
	check() error  // whether its arguments make sense
	do(r *round) error
}

// answering is a change whose answer depends on what the rule decides.
type answering interface {
	Change
	answer(r *round)
}

// Of names the semaphore of a change, and tells whether it went well.
type Of struct {
	Key string
	Err error // errors of all changes: broker.ErrAccessRefused, ErrNotFound, ErrInvalid
}

func (o *Of) of() *Of { return o }

// Create makes a semaphore; one that is there stays as it is. Needs configure.
type Create struct {
	Of
	Settings
	Info    Info
	Created bool
}

// Update changes a semaphore. Needs configure. Errors: ErrOrder.
type Update struct {
	Of
	Settings
	Create  bool // it is made when there is none
	Info    Info
	Created bool // it was made
}

// Delete deletes a semaphore; each of its tasks gets the event Deleted. Needs configure. Errors: ErrNotEmpty.
type Delete struct {
	Of
	IfEmpty bool
	Missing bool // out: there was none, which is no error
}

// Entry is a task to be enqueued.
type Entry struct {
	Task     string
	Priority float64 // not NaN, not infinite
	Lease    int64   // ms; 0: that of the semaphore
	Owner    int64   // an owner with whose end (Manager.EndOwner) the task loses its place; 0: none
}

// Enqueue puts tasks into the line, or changes the priority, lease and owner of those that are there, all of them before the rule is asked. Needs write.
type Enqueue struct {
	Of
	Entries []Entry
	States  []State // after the transitions that followed at once
	Added   int     // how many were not there before
}

// Release takes tasks out of the semaphore, running or not. Those that are not there are no error. Needs write.
type Release struct {
	Of
	Tasks    []string
	Released []bool
}

// Renew begins the leases of running tasks anew. Needs write.
type Renew struct {
	Of
	Tasks   []string
	Renewed []bool // false: it does not run
}

// Status looks at tasks. Needs read.
type Status struct {
	Of
	Tasks  []string
	States []State
}

// Look describes a semaphore. Needs read.
type Look struct {
	Of
	Info Info
}

// Page lists tasks in their order. Needs read.
type Page struct {
	Of
	From   int                // position of the first, from 1
	Limit  int                // at most so many; 0: 100
	Only   []semaphore.Status // empty: all
	States []State
	Next   int // From of the next page, 0: there is none
}

// Scan lists tasks in no order, also while others change them: a task that is there all the time comes at least once, and may come twice when tasks
// were taken away between the pages. Positions are not told. Needs read.
type Scan struct {
	Of
	From   uint32  // Next of the page before, 0: from the beginning
	Limit  int     // at most so many; 0: 100
	States []State // the next page of the same Scan is written over it
	Next   uint32  // 0: that was all
}

// Expect asks whether something holds, at its place among the changes of a call. With Group.Must it keeps all of them out when it does not. Needs read.
// Errors: broker.ErrStale (it does not hold).
type Expect struct {
	Of
	Task string // "": it is about the semaphore alone
	// Holds looks at the semaphore, as far as it is there, and at the task. It runs under the manager's lock and calls nothing of it.
	Holds func(i Info, there bool, s State) bool
}

// Event is something that happened and is durable, as a watcher sees it.
type Event struct {
	VHost, Key string
	Event      semaphore.Event // 0: the task was enqueued, changed its priority, or was released; or it is about the semaphore itself
	Task       semaphore.Task  // after it; of one that is gone as it was
	Was        semaphore.Task  // before it; without ID: it was not there
	Info       *Info           // of an event about the semaphore itself, which has no task: it was made, changed or (Gone) deleted; else nil
	Gone       bool            // it is not there any more
	Seq        uint64          // number of the transition in the semaphore, in the order of the log; 0 when Event is 0
	Time       int64           // unix ms

	of *sem
}

// WatchOptions say what a watcher wants to see.
type WatchOptions struct {
	Key    string // "" is all the user may read
	Prefix bool   // all whose key begins with Key
	Task   string // "" is all
	All    bool   // also what is no transition (Event 0)
}

// Group is what else happens together with changes: after a crash all of it is there, or nothing.
type Group struct {
	Commands []broker.Command // done as Session.DoAll does, before the changes; a condition among them that does not hold keeps the changes out
	Tx       *broker.Tx       // or a transaction, which is committed
	Must     bool             // a change that fails keeps all of the group out
}
