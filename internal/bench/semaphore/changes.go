package semaphore

import (
	"context"
	"time"

	"fiveways.dev/fiveways/internal/bench/latency"
	"fiveways.dev/fiveways/internal/bench/parallel"
)

// changes has each client repeatedly release a running task and enqueue another one at the end of
// the line. Both count as changes. A release hands over its place.
func changes(ctx context.Context, o Options, s server) (Load, error) {
	clients, err := connectAll(ctx, o.Clients, s)
	defer func() {
		for _, c := range clients {
			c.interrupt()
		}
	}()
	if err != nil {
		return Load{}, err
	}
	histograms := make([]latency.Histogram, len(clients))
	began := time.Now()
	err = parallel.Do(ctx, len(clients), func(ctx context.Context, i int) error {
		defer context.AfterFunc(ctx, clients[i].interrupt)()
		return change(clients[i], i, o, began.Add(o.Duration), &histograms[i])
	})
	took := time.Since(began)
	if err != nil {
		return Load{}, err
	}
	var h latency.Histogram
	for i := range histograms {
		h.Merge(&histograms[i])
	}
	return newLoad("changes", &h, took), nil
}

// connectAll opens the connections before the measurement starts. The caller must interrupt the
// returned clients even after an error.
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

// change is the work of client i. It handles the tasks i, i+clients, and so on.
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
