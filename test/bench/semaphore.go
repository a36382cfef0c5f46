package main

import (
	"context"
	"fmt"
	"time"

	"fiveways.dev/fiveways/internal/bench/semaphore"
	"fiveways.dev/fiveways/internal/sqlschema"
)

// sweepEvery is the interval at which the original sweeps all semaphores, and sweeps is the minimum
// number of sweeps in a case.
const (
	sweepEvery = time.Minute
	sweeps     = 2
)

func (s settings) sweep() time.Duration { return time.Duration(float64(sweepEvery) * s.scale) }

// sweepPeer is a real PostgreSQL with tables that are swept, and functionsPeer one with the
// functions of `fiveways semaphore install`. The error is postgres.ErrNone if there is none.
func sweepPeer() (*peer, error) {
	return inPostgres(namePostgres, partSemaphore, nil, func(_ context.Context, q *server, s settings) error {
		q.sweep = s.sweep()
		return nil
	})
}

func functionsPeer() (*peer, error) {
	return inPostgres(nameFunctions, partSemaphore, nil, func(ctx context.Context, q *server, _ settings) error {
		_, err := sqlschema.InstallSemaphores(ctx, q.urls["sql"])
		return err
	})
}

// semaphoreLoad runs a load of `fiveways bench semaphore` over a protocol.
func semaphoreLoad(load, protocol string, change func(*semaphore.Options, settings)) serverRunner {
	return func(ctx context.Context, q *server, s settings) (values, error) {
		o := semaphore.DefaultOptions()
		o.URL, o.Loads, o.Duration, o.Sweep = q.urls[protocol], []string{load}, s.duration, q.sweep
		if o.URL == "" {
			o.URL = q.urls["sql"] // PostgreSQL is measured over SQL in all cases
		}
		change(&o, s)
		r, err := semaphore.Run(ctx, o, nil)
		if err != nil {
			return nil, err
		}
		l := r.Loads[0]
		return values{"rate": l.PerSecond, "p50": l.P50, "p99": l.P99, "max": l.Max, "starved": l.Starved}, nil
	}
}

// semaphoreCases returns the cases of task semaphores in order.
func semaphoreCases() (all []benchCase) {
	names := map[string]string{"redis": "the Redis protocol", "sql": "SQL"}
	for _, protocol := range []string{"redis", "sql"} {
		all = append(all, benchCase{name: "semaphore-handover-" + protocol, once: true, metrics: []metric{
			{name: "p50", unit: "ms"}, {name: "p99", unit: "ms", bar: limit(5)}, {name: "max", unit: "ms"}, {name: "starved", unit: "% of the time"},
		}, title: "10 releases a second of 1,000 running, 100,000 waiting; Fiveways over " + names[protocol],
			serve: semaphoreLoad("handover", protocol, func(o *semaphore.Options, s settings) { o.Duration = max(s.duration, sweeps*s.sweep()) })})
	}
	for _, protocol := range []string{"redis", "sql"} {
		for _, clients := range []int{1, 16} {
			all = append(all, benchCase{name: fmt.Sprintf("semaphore-changes-%s-%d", protocol, clients), metrics: []metric{
				{name: "rate", unit: "changes/s", more: true}, {name: "p50", unit: "ms"}, {name: "p99", unit: "ms"},
			}, title: fmt.Sprintf("releases and enqueues, %s; Fiveways over %s", connectionsText(clients), names[protocol]),
				serve: semaphoreLoad("changes", protocol, func(o *semaphore.Options, _ settings) { o.Clients = clients })})
		}
	}
	return all
}
