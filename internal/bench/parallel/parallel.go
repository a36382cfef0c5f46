// Package parallel runs the goroutines of a benchmark together.
package parallel

import (
	"context"
	"sync"
)

// Do runs n goroutines and waits for them. The first error ends ctx for the others, and is
// returned, as is the end of ctx.
func Do(ctx context.Context, n int, work func(ctx context.Context, worker int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var all sync.WaitGroup
	for worker := range n {
		all.Go(func() {
			if err := work(ctx, worker); err != nil {
				cancel(err) // only the first counts
			}
		})
	}
	all.Wait()
	return context.Cause(ctx)
}
