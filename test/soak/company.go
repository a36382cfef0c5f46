package soak

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"fiveways.dev/fiveways/test/brokertest"
)

// company is the work that runs beside the loads during one life of the broker.
type company struct {
	ctx    context.Context
	cancel context.CancelFunc
	ending atomic.Bool // the broker is about to end, which explains errors from now on
	doing  sync.WaitGroup
}

// enter starts each of these functions until the life ends. An error before that fails the test.
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

// leave ends the functions and waits for them.
func (c *company) leave() {
	c.cancel()
	c.doing.Wait()
}
