package semaphore

import "context"

// Backend is where semaphores are: what a Manager asks. What returns without an error is as durable
// as the broker makes it. Methods are called by any number of goroutines at once, and end soon when
// their context does.
type Backend interface {
	// Create makes a semaphore; one that is there stays as it is.
	Create(ctx context.Context, key string, s Settings) (created bool, err error)
	// Update changes a semaphore. Errors: ErrNotFound, ErrOrder, ErrInvalid.
	Update(ctx context.Context, key string, s Settings) error
	// Delete removes a semaphore with its tasks; deleted is false when there was none. Errors:
	// ErrNotEmpty, with ifEmpty.
	Delete(ctx context.Context, key string, ifEmpty bool) (deleted bool, err error)
	// Info describes a semaphore. Errors: ErrNotFound.
	Info(ctx context.Context, key string) (Info, error)
	// List describes the semaphores whose keys match a pattern ("" is all), in the order of the
	// keys, from the one behind after on; next is "" at the end. A page may be empty before that.
	List(ctx context.Context, pattern, after string) (page []Info, next string, err error)

	// Enqueue puts tasks in line, or changes those that are there, and tells their statuses.
	// Errors: ErrNotFound, ErrInvalid, ErrNoRoom.
	Enqueue(ctx context.Context, key string, entries []Entry) ([]Status, error)
	// Release takes tasks out; those that are not there do not count. Errors: ErrNotFound.
	Release(ctx context.Context, key string, tasks []string) (released int, err error)
	// Renew begins the leases of running tasks anew, and tells of each whether it runs. Errors:
	// ErrNotFound.
	Renew(ctx context.Context, key string, tasks []string) ([]bool, error)
	// Look tells of tasks. Errors: ErrNotFound.
	Look(ctx context.Context, key string, tasks []string) ([]Task, error)
	// Tasks lists tasks in their order, from a position on, counted from 1; next is 0 at the end.
	// Errors: ErrNotFound.
	Tasks(ctx context.Context, key string, from int, only []Status) (page []Task, next int, err error)

	// Watch calls fn for what happens from its return on, in the order in which it happens in each
	// semaphore, one call at a time, until stop is called. fn does not block. When events may have
	// been lost, fn gets one of Kind EventMissed. ctx is for the call alone.
	Watch(ctx context.Context, o WatchOptions, fn func(Event)) (stop func(), err error)
	// Follow is Watch of all that happens to one task. There may be many thousands at once.
	Follow(ctx context.Context, key, task string, fn func(Kind)) (stop func(), err error)

	// Close gives everything back. Calls fail with ErrClosed from then on.
	Close() error
}
