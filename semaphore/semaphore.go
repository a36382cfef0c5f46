package semaphore

import (
	"context"
	"fmt"
	"iter"
	"math"
	"time"

	"fiveways.dev/fiveways/internal/core/glob"
)

// Semaphore is one semaphore of a Manager. It is a handle: it contacts the broker only when a
// method is called, and every method may return ErrNotFound.
type Semaphore struct {
	m   *Manager
	key string
}

// Key returns the name of the semaphore.
func (s *Semaphore) Key() string { return s.key }

// Info returns the state of the semaphore.
func (s *Semaphore) Info(ctx context.Context) (Info, error) { return s.m.backend.Info(ctx, s.key) }

// Update changes settings. See Manager.Update.
func (s *Semaphore) Update(ctx context.Context, c Settings) error { return s.m.Update(ctx, s.key, c) }

// Enqueue enqueues a task and returns its status, which shows whether it may run at once. An
// existing task gets the new priority, and keeps its position among tasks of equal priority.
func (s *Semaphore) Enqueue(ctx context.Context, task string, priority float64) (Status, error) {
	statuses, err := s.EnqueueAll(ctx, Entry{Task: task, Priority: priority})
	if err != nil {
		return None, err
	}
	return statuses[0], nil
}

// MaxTasks is the maximum number of tasks in one call.
const MaxTasks = 100_000

func few(n int) error {
	if n > MaxTasks {
		return fmt.Errorf("%w: %d tasks; %d at once", ErrInvalid, n, MaxTasks)
	}
	return nil
}

// EnqueueAll enqueues at most MaxTasks tasks. The broker adds all of them before it decides which
// ones run, with one wait for the disk.
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

// Release removes running or waiting tasks, and the next tasks start at once. released is how many
// of them existed. The contexts that Acquire returned for them end, and their leases are no longer
// renewed, even if Release returns an error.
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

// Renew renews the leases of running tasks, and reports for each task whether it runs. Tasks that
// were started with Acquire are renewed automatically.
func (s *Semaphore) Renew(ctx context.Context, tasks ...string) ([]bool, error) {
	if len(tasks) == 0 {
		return nil, nil
	}
	if err := few(len(tasks)); err != nil {
		return nil, err
	}
	return s.m.backend.Renew(ctx, s.key, tasks)
}

// Status returns the state of a task. The status is None if the task does not exist.
func (s *Semaphore) Status(ctx context.Context, task string) (Task, error) {
	tasks, err := s.StatusAll(ctx, task)
	if err != nil {
		return Task{}, err
	}
	return tasks[0], nil
}

// StatusAll returns the state of tasks.
func (s *Semaphore) StatusAll(ctx context.Context, tasks ...string) ([]Task, error) {
	if len(tasks) == 0 {
		return nil, nil
	}
	if err := few(len(tasks)); err != nil {
		return nil, err
	}
	return s.m.look(ctx, s.key, tasks)
}

// Tasks lists tasks in order; with statuses, only tasks with one of them. An error ends the
// sequence. Each page is read separately: tasks that change their position in between may be
// returned twice or not at all.
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

// Watch reports events of the semaphore, or of one of its tasks. See Manager.Watch.
func (s *Semaphore) Watch(ctx context.Context, o WatchOptions) (<-chan Event, error) {
	o.Pattern = glob.Literal(s.key)
	return s.m.Watch(ctx, o)
}

// Acquire enqueues a task and waits until it runs. The context it returns is derived from ctx. It
// also ends when the task is asked to give way (its cause is then ErrTryRelease, and the task keeps
// running until Release), when the task is removed (ErrReleased, ErrExpired, ErrDeleted), or when
// the manager closes (ErrClosed). If the request to give way is withdrawn, the context has already
// ended. Until ctx ends, the lease of the task is renewed in time, even after it was asked to give
// way.
//
// Always call Release at the end. If ctx ends during the wait, Acquire removes the task and returns
// ctx's cause. If another client removed the task, it returns one of the errors above. Only one
// Acquire at a time may use a task. Acquire waits for a broker that is temporarily unreachable.
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
