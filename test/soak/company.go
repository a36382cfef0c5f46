package soak

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"fiveways.dev/fiveways/test/brokertest"
)

// company is what goes on beside the loads in a life of the broker.
type company struct {
	ctx    context.Context
	cancel context.CancelFunc
	ending atomic.Bool // the broker is about to end: errors from now on are due to that
	doing  sync.WaitGroup
}

// enter has each of these work until the life ends; an error before that fails the test.
func enter(t *testing.T, b *brokertest.Broker, all map[string]func(context.Context, *brokertest.Broker) error) *company {
	c := &company{}
	c.ctx, c.cancel = context.WithCancel(t.Context())
	for name, work := range all {
		c.doing.Go(func() {
			if err := work(c.ctx, b); err != nil && !c.ending.Load() {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	return c
}

// leave has them end.
func (c *company) leave() {
	c.cancel()
	c.doing.Wait()
}
