package main

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// crew is a set of connections and the goroutines that work on them. The first failure of a member
// ends the measurement. A failure that results from stop closing a connection does not count.
type crew struct {
	stopping atomic.Bool
	failed   chan error // holds the first failure
	members  sync.WaitGroup

	mu    sync.Mutex
	conns []*conn
}

func newCrew() *crew { return &crew{failed: make(chan error, 1)} }

// hire adds a connection, which stop closes.
func (c *crew) hire(k *conn) *conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conns = append(c.conns, k)
	return k
}

// dial is dialChannel and hire.
func (c *crew) dial(addr string) (*conn, error) {
	k, err := dialChannel(addr)
	if err != nil {
		return nil, err
	}
	return c.hire(k), nil
}

// work runs f until it returns.
func (c *crew) work(f func() error) {
	c.members.Go(func() {
		if err := f(); err != nil && !c.stopping.Load() {
			select {
			case c.failed <- err:
			default:
			}
		}
	})
}

// wait waits for d. It returns early with a member's failure or the end of ctx.
func (c *crew) wait(ctx context.Context, d time.Duration) error {
	select {
	case err := <-c.failed:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// until polls a condition every millisecond, and otherwise waits as wait does.
func (c *crew) until(ctx context.Context, done func() bool) error {
	for !done() {
		if err := c.wait(ctx, time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// stop closes every connection and waits for the members.
func (c *crew) stop() {
	c.stopping.Store(true)
	c.mu.Lock()
	for _, k := range c.conns {
		k.Close()
	}
	c.mu.Unlock()
	c.members.Wait()
}
