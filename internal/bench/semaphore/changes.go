package semaphore

import (
	"context"
	"sync"
	"time"

	"fiveways.dev/fiveways/internal/bench/latency"
)

// changes lets each client release a running task and enqueue another at the end of the line, again
// and again. Both are changes; a release hands its place over.
func changes(ctx context.Context, o Options, s server) (Load, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	clients, err := connectAll(ctx, o.Clients, s)
	defer func() {
		for _, c := range clients {
			c.interrupt()
		}
	}()
	if err != nil {
		return Load{}, err
	}
	var all sync.WaitGroup
	histograms := make([]latency.Histogram, len(clients))
	began := time.Now()
	for i, c := range clients {
		all.Go(func() {
			defer context.AfterFunc(ctx, c.interrupt)()
			if err := change(c, i, o, began.Add(o.Duration), &histograms[i]); err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	took := time.Since(began)
	if err := context.Cause(ctx); err != nil {
		return Load{}, err
	}
	var h latency.Histogram
	for i := range histograms {
		h.Merge(&histograms[i])
	}
	return newLoad("changes", &h, took), nil
}

// connectAll opens the connections before the clock runs. What it returns must be interrupted even
// with an error.
func connectAll(ctx context.Context, n int, s server) (clients []client, err error) {
	for range n {
		c, err := s.connect(ctx)
		if err != nil {
			return clients, err
		}
		clients = append(clients, c)
	}
	return clients, nil
}

// change is the work of client number i: the tasks i, i+clients and so on are its own.
func change(c client, i int, o Options, deadline time.Time, h *latency.Histogram) error {
	for before := time.Now(); before.Before(deadline); i += o.Clients {
		for _, do := range []func() error{func() error { return c.release(i) }, func() error { return c.enqueue(o.Active + o.Waiting + i) }} {
			if err := do(); err != nil {
				return err
			}
			now := time.Now()
			h.Record(now.Sub(before))
			before = now
		}
	}
	return nil
}
