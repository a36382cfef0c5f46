package main

import (
	"context"
	"fmt"

	"fiveways.dev/fiveways/internal/bench/jobs"
	"fiveways.dev/fiveways/test/redisd"
)

// redisPeer returns the peer of a real Redis. It returns redisd.ErrNone if there is none.
func redisPeer() (*peer, error) {
	version, err := redisd.Version()
	if err != nil {
		return nil, err
	}
	start := func(_ context.Context, c benchCase, _ settings) (*server, error) {
		r, err := redisd.Open(redisd.Options{Sync: c.sync})
		if err != nil {
			return nil, err
		}
		urls := map[string]string{"redis": "redis://" + r.Addr()}
		return &server{name: nameRedis, urls: urls, pid: r.PID(), kill: r.Close, destroy: r.Close}, nil
	}
	return &peer{name: nameRedis, version: version, servers: map[part]starter{partJobs: start}}, nil
}

// jobsBacklog is the number of jobs in the queue for the cases that only take jobs.
const jobsBacklog = 20_000

// jobsLoad runs a load of `fiveways bench jobs`.
func jobsLoad(load string, connections, depth int) serverRunner {
	return func(ctx context.Context, q *server, s settings) (values, error) {
		o := jobs.DefaultOptions()
		o.Duration, o.Backlog = s.duration, int(s.scaled(jobsBacklog, 500))
		var once jobs.Once
		cpu, err := cpuDuring(q.cpu, func() (err error) {
			once, err = jobs.Measure(ctx, o, q.urls["redis"], load, connections, depth)
			return err
		})
		if err != nil {
			return nil, err
		}
		return values{"rate": once.PerSecond, "p50": once.Latency.Millis(0.5), "p99": once.Latency.Millis(0.99), "cpu": microsEach(cpu, int64(once.Jobs))}, nil
	}
}

// jobsCases returns the cases of jobs in order. Beside a Redis that syncs every second Fiveways
// does the same. The cost of its default, a sync before each answer, is measured too.
func jobsCases() (all []benchCase) {
	add := func(suffix, load, what string, connections, depth int, sync string, oursEnv []string, b bar) {
		title := fmt.Sprintf("%s, %s, %d in flight each", what, connectionsText(connections), depth)
		metrics := []metric{{name: "rate", unit: "jobs/s", more: true, bar: b}, {name: "p50", unit: "ms"}, {name: "p99", unit: "ms"}}
		if load != "work" { // filling the queue is not measured
			metrics = append(metrics, metric{name: "cpu", unit: "µs/job"})
		}
		all = append(all, benchCase{name: fmt.Sprintf("jobs%s-%s-%d-%d", suffix, load, connections, depth), title: title, metrics: metrics, sync: sync,
			oursEnv: oursEnv, serve: jobsLoad(load, connections, depth), floor: load != "work"})
	}
	second := []string{"FIVEWAYS_SYNC=os"}
	for _, connections := range []int{1, 4, 16} {
		single := bar{}
		if connections > 1 {
			single = timesRival(4)
		}
		add("", "cycle", "enqueue, take, done", connections, 1, "everysec", second, single)
		add("", "cycle", "enqueue, take, done", connections, 64, "everysec", second, timesRival(10))
	}
	for _, connections := range []int{4, 16} {
		for _, depth := range []int{1, 64} {
			add("", "wire", "three PINGs: the limit for enqueue, take, done", connections, depth, "everysec", second, bar{})
		}
	}
	for _, connections := range []int{4, 16} {
		add("", "enqueue", "enqueue", connections, 1, "everysec", second, bar{})
		add("", "work", "take, done", connections, 1, "everysec", second, bar{})
	}
	for _, connections := range []int{4, 16} {
		for _, depth := range []int{1, 64} {
			add("-synced", "cycle", "Fiveways with its default sync: enqueue, take, done", connections, depth, "everysec", nil, bar{})
		}
	}
	for _, depth := range []int{1, 64} {
		for _, connections := range []int{1, 4, 16, 50} {
			times := 1.2
			if depth > 1 {
				times = 2
			}
			add("", "list", "both sync before each answer: LPUSH, BRPOP", connections, depth, "always", nil, timesRival(times))
		}
		add("-os", "list", "neither waits for the disk: LPUSH, BRPOP", 16, depth, "everysec", second, timesRival(0.8))
	}
	return all
}

func connectionsText(n int) string {
	if n == 1 {
		return "1 connection"
	}
	return fmt.Sprintf("%d connections", n)
}
