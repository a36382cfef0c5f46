package semaphoretest

import (
	"context"
	"sync/atomic"
	"testing"

	"fiveways.dev/fiveways/semaphore"
)

func TestMemory(t *testing.T) {
	m := NewMemory()
	Conformance(t, Suite{Open: func(*testing.T) *semaphore.Manager { return semaphore.New(&client{Memory: m}) }})
}

// client is one of several clients of a memory, which stays open when the client closes.
type client struct {
	*Memory
	closed atomic.Bool
}

func (c *client) Enqueue(ctx context.Context, key string, entries []semaphore.Entry) ([]semaphore.Status, error) {
	if c.closed.Load() {
		return nil, semaphore.ErrClosed
	}
	return c.Memory.Enqueue(ctx, key, entries)
}

func (c *client) Close() error {
	c.closed.Store(true)
	return nil
}
