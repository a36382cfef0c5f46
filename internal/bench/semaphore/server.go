package semaphore

import (
	"context"
	"crypto/rand"
	"net/url"
)

// server is the server under test. Tasks are numbered from 0, and each is less urgent than the one
// before, so that they run in order.
type server interface {
	// prepare makes the semaphore.
	prepare(ctx context.Context, active, tryRelease int) error
	// fill enqueues this many tasks, many at once.
	fill(ctx context.Context, tasks int) error
	// runs reports whether a task runs.
	runs(ctx context.Context, task int) (bool, error)
	// connect returns a connection of its own.
	connect(ctx context.Context) (client, error)
	// watch has acquired called for each task that is told to run from now on, until ctx ends; and
	// failed, if something goes wrong before.
	watch(ctx context.Context, acquired func(), failed func(error)) error
	// remove takes all away that prepare made.
	remove(ctx context.Context) error
	close()
}

// client is one connection. It has no contexts: interrupt closes it.
type client interface {
	release(task int) error
	enqueue(task int) error
	interrupt()
}

// open connects to the server that the options name, and tells what it is.
func open(ctx context.Context, o Options) (s server, name string, err error) {
	key := "bench-" + rand.Text()[:8]
	switch u, _ := url.Parse(o.URL); { // it is valid
	case isRedis(u.Scheme):
		return openRedis(ctx, o, key)
	case o.Sweep > 0:
		return openSweep(ctx, o)
	}
	return openSQL(ctx, o, key)
}

// The names of what a task gets.
const (
	acquiredStatus = "ACQUIRED"
	acquiredEvent  = "Acquired"
)

// priorityOf makes tasks run in their order.
func priorityOf(task int) float64 { return -float64(task) }

// fillChunk is how many tasks one request enqueues.
const fillChunk = 5000

// chunks calls enqueue for this many tasks, a chunk at a time.
func chunks(tasks int, enqueue func(first, behind int) error) error {
	for first := 0; first < tasks; first += fillChunk {
		if err := enqueue(first, min(first+fillChunk, tasks)); err != nil {
			return err
		}
	}
	return nil
}
