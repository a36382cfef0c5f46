package semaphore

import (
	"context"
	"crypto/rand"
	"net/url"
)

// server is the server under test. Tasks are numbered from 0, with descending priority, so that
// they run in order.
type server interface {
	// prepare creates the semaphore.
	prepare(ctx context.Context, active, tryRelease int) error
	// fill enqueues this many tasks in bulk.
	fill(ctx context.Context, tasks int) error
	// runs reports whether a task runs.
	runs(ctx context.Context, task int) (bool, error)
	// connect opens a new connection.
	connect(ctx context.Context) (client, error)
	// watch has acquired called for each task that is told to run from now on, until ctx ends. It
	// calls failed if an error occurs before.
	watch(ctx context.Context, acquired func(), failed func(error)) error
	// remove removes everything that prepare created.
	remove(ctx context.Context) error
	close()
}

// client is a connection. Its methods take no contexts: interrupt closes it.
type client interface {
	release(task int) error
	enqueue(task int) error
	interrupt()
}

// open connects to the server that the options name, and returns its description.
func open(ctx context.Context, o Options) (s server, name string, err error) {
	key := "bench-" + rand.Text()[:8]
	switch u, _ := url.Parse(o.URL); { // validated before
	case isRedis(u.Scheme):
		return openRedis(ctx, o, key)
	case o.Sweep > 0:
		return openSweep(ctx, o)
	}
	return openSQL(ctx, o, key)
}

// The names of the status and the event of a task that may run.
const (
	acquiredStatus = "ACQUIRED"
	acquiredEvent  = "Acquired"
)

// priorityOf returns the priority of a task, such that tasks run in order.
func priorityOf(task int) float64 { return -float64(task) }

// fillChunk is the number of tasks that one request enqueues.
const fillChunk = 5000

// chunks calls enqueue for this many tasks in chunks.
func chunks(tasks int, enqueue func(first, behind int) error) error {
	for first := 0; first < tasks; first += fillChunk {
		if err := enqueue(first, min(first+fillChunk, tasks)); err != nil {
			return err
		}
	}
	return nil
}
