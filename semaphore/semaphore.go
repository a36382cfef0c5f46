package semaphore

import (
	"context"
	"fmt"
	"iter"
	"math"
	"time"

	"fiveways.dev/fiveways/internal/core/glob"
)

// Semaphore is one semaphore of a Manager. It is a handle: nothing is asked before a method is
// called, and every method can tell ErrNotFound.
type Semaphore struct {
	m   *Manager
	key string
}

// Key is the name of the semaphore.
func (s *Semaphore) Key() string { return s.key }

// Info describes the semaphore.
func (s *Semaphore) Info(ctx context.Context) (Info, error) { return s.m.backend.Info(ctx, s.key) }

// Update changes settings, as Manager.Update does.
func (s *Semaphore) Update(ctx context.Context, c Settings) error { return s.m.Update(ctx, s.key, c) }

// Enqueue puts a task in line, and reports whether it may run at once. When it is there already it
// keeps its place among tasks of the same priority, and gets this one.
func (s *Semaphore) Enqueue(ctx context.Context, task string, priority float64) (Status, error) {
	statuses, err := s.EnqueueAll(ctx, Entry{Task: task, Priority: priority})
	if err != nil {
		return None, err
	}
	return statuses[0], nil
}

// MaxTasks is how many tasks one call may be about.
const MaxTasks = 100_000

func few(n int) error {
	if n > MaxTasks {
		return fmt.Errorf("%w: %d tasks; %d at once", ErrInvalid, n, MaxTasks)
	}
	return nil
}

// EnqueueAll puts tasks in line, MaxTasks at most, all of them before anything is decided, with one
// wait for the disk.
func (s *Semaphore) EnqueueAll(ctx context.Context, entries ...Entry) ([]Status, error) {
	if err := few(len(entries)); err != nil {
		return nil, err
	}
	for _, e := range entries {
		if err := e.validate(); err != nil {
			return nil, err
		}
	}
	if len(entries) == 0 {
		return nil, nil
	}
	statuses, err := s.m.backend.Enqueue(ctx, s.key, entries)
	if err == nil && len(statuses) != len(entries) {
		err = fmt.Errorf("semaphore: %d statuses of %d tasks", len(statuses), len(entries))
	}
	return statuses, err
}

// Release takes tasks out, whether they run or wait, and their places go to the next at once;
// released is how many there were. Contexts that Acquire gave for them end, and their leases are
// not renewed any more, also when there is an error.
func (s *Semaphore) Release(ctx context.Context, tasks ...string) (released int, err error) {
	if len(tasks) == 0 {
		return 0, nil
	}
	if err := few(len(tasks)); err != nil {
		return 0, err
	}
	s.m.forget(s.key, tasks)
	return s.m.backend.Release(ctx, s.key, tasks)
}

// Renew begins the leases of tasks that run anew, and tells of each whether it does. What Acquire
// gave is renewed without that.
func (s *Semaphore) Renew(ctx context.Context, tasks ...string) ([]bool, error) {
	if len(tasks) == 0 {
		return nil, nil
	}
	if err := few(len(tasks)); err != nil {
		return nil, err
	}
	return s.m.backend.Renew(ctx, s.key, tasks)
}

// Status tells where a task stands; the status is None when it does not stand in line.
func (s *Semaphore) Status(ctx context.Context, task string) (Task, error) {
	tasks, err := s.StatusAll(ctx, task)
	if err != nil {
		return Task{}, err
	}
	return tasks[0], nil
}

// StatusAll tells where tasks stand.
func (s *Semaphore) StatusAll(ctx context.Context, tasks ...string) ([]Task, error) {
	if len(tasks) == 0 {
		return nil, nil
	}
	if err := few(len(tasks)); err != nil {
		return nil, err
	}
	return s.m.look(ctx, s.key, tasks)
}

// Tasks lists tasks in their order; with statuses, only those that have one of them. An error ends
// it. Each page is one look, and tasks that change their position between two may come twice or
// not.
func (s *Semaphore) Tasks(ctx context.Context, only ...Status) iter.Seq2[Task, error] {
	return func(yield func(Task, error) bool) {
		for from := 1; from > 0; {
			page, next, err := s.m.backend.Tasks(ctx, s.key, from, only)
			if err != nil {
				yield(Task{}, err)
				return
			}
			for _, t := range page {
				if !yield(t, nil) {
					return
				}
			}
			from = next
		}
	}
}

// Watch tells what happens to the semaphore, or to one task of it, as Manager.Watch does.
func (s *Semaphore) Watch(ctx context.Context, o WatchOptions) (<-chan Event, error) {
	o.Pattern = glob.Literal(s.key)
	return s.m.Watch(ctx, o)
}

// Acquire enqueues a task and waits until it runs. The context it returns is ctx until the task is
// asked to give way (its cause is ErrTryRelease then, and the task keeps running until Release), is
// removed (ErrReleased, ErrExpired, ErrDeleted), or the manager closes (ErrClosed). If the request
// to give way is withdrawn, that comes too late for the context. Until ctx ends, the lease of the
// task is renewed in time, even after it was asked to give way.
//
// Call Release in the end, in any case. If ctx ends during the wait, Acquire removes the task and
// returns ctx's cause; if another client removed it, one of the errors above. A task is for one
// Acquire at a time. Acquire waits for a broker that is temporarily unreachable.
func (s *Semaphore) Acquire(ctx context.Context, task string, priority float64) (context.Context, error) {
	return s.AcquireEntry(ctx, Entry{Task: task, Priority: priority})
}

// AcquireEntry is Acquire for a task with a lease of its own.
func (s *Semaphore) AcquireEntry(ctx context.Context, e Entry) (context.Context, error) {
	if err := e.validate(); err != nil {
		return nil, err
	}
	return s.m.acquire(ctx, name{s.key, e.Task}, e)
}

func (e Entry) validate() error {
	switch {
	case math.IsNaN(e.Priority) || math.IsInf(e.Priority, 0):
		return fmt.Errorf("%w: the priority of %q is %v", ErrInvalid, e.Task, e.Priority)
	case e.Lease < 0 || e.Lease%time.Millisecond != 0:
		return fmt.Errorf("%w: the lease of %q is %v; whole milliseconds", ErrInvalid, e.Task, e.Lease)
	}
	return nil
}
