package semaphore

import "context"

// Backend gives a Manager access to semaphores. When a method returns without an error, its change
// is as durable as the broker makes it. Methods are called by any number of goroutines at once, and
// return soon after their context ends.
type Backend interface {
	// Create creates a semaphore. An existing one is left unchanged.
	Create(ctx context.Context, key string, s Settings) (created bool, err error)
	// Update changes the settings of a semaphore. Errors: ErrNotFound, ErrOrder, ErrInvalid.
	Update(ctx context.Context, key string, s Settings) error
	// Delete removes a semaphore with its tasks. deleted is false if it did not exist. Errors:
	// ErrNotEmpty, with ifEmpty.
	Delete(ctx context.Context, key string, ifEmpty bool) (deleted bool, err error)
	// Info returns the state of a semaphore. Errors: ErrNotFound.
	Info(ctx context.Context, key string) (Info, error)
	// List returns the semaphores whose keys match a pattern ("" matches all), in key order,
	// beginning after the key after. next is "" at the end. A page may be empty before the end.
	List(ctx context.Context, pattern, after string) (page []Info, next string, err error)

	// Enqueue enqueues tasks or changes existing ones, and returns their statuses. Errors:
	// ErrNotFound, ErrInvalid, ErrNoRoom.
	Enqueue(ctx context.Context, key string, entries []Entry) ([]Status, error)
	// Release removes tasks and returns how many of them existed. Errors: ErrNotFound.
	Release(ctx context.Context, key string, tasks []string) (released int, err error)
	// Renew renews the leases of running tasks, and reports for each task whether it runs. Errors:
	// ErrNotFound.
	Renew(ctx context.Context, key string, tasks []string) ([]bool, error)
	// Look returns the state of tasks. Errors: ErrNotFound.
	Look(ctx context.Context, key string, tasks []string) ([]Task, error)
	// Tasks lists tasks in order, beginning at a position counted from 1. next is 0 at the end.
	// Errors: ErrNotFound.
	Tasks(ctx context.Context, key string, from int, only []Status) (page []Task, next int, err error)

	// Watch calls fn for all events after its return, in order for each semaphore, one call at a
	// time, until stop is called. fn must not block. When events may have been lost, fn gets an
	// event of Kind EventMissed. ctx applies only to the call.
	Watch(ctx context.Context, o WatchOptions, fn func(Event)) (stop func(), err error)
	// Follow is Watch for all events of one task. There may be many thousands at once.
	Follow(ctx context.Context, key, task string, fn func(Kind)) (stop func(), err error)

	// Close releases all resources. After that, calls fail with ErrClosed.
	Close() error
}
