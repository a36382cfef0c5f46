package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"

	"fiveways.dev/fiveways/internal/bench/jobs"
	"fiveways.dev/fiveways/test/daemon"
	"fiveways.dev/fiveways/test/redisd"
)

// jobsServer is a server of the Redis protocol, started on an empty folder for one run of one case.
type jobsServer struct {
	url     string
	usage   func() (usage, error)
	kill    func()
	destroy func()
}

// jobsStarter starts a jobsServer for a case.
type jobsStarter func(ctx context.Context, c benchCase) (*jobsServer, error)

// jobsRunner measures one case on a server started for it.
type jobsRunner func(ctx context.Context, q *jobsServer, s settings) (values, error)

// redisPeer returns the peer of a real Redis. It returns redisd.ErrNone if there is none.
func redisPeer() (*peer, error) {
	version, err := redisd.Version()
	if err != nil {
		return nil, err
	}
	return &peer{name: nameRedis, version: version, jobs: func(_ context.Context, c benchCase) (*jobsServer, error) {
		r, err := redisd.Open(redisd.Options{Sync: c.sync})
		if err != nil {
			return nil, err
		}
		return &jobsServer{url: "redis://" + r.Addr(), usage: func() (usage, error) { return oneUsage(r.PID()) }, kill: r.Close, destroy: r.Close}, nil
	}}, nil
}

// oursForJobs starts Fiveways with the Redis protocol and AMQP. An AMQP handshake shows when it is
// ready.
func oursForJobs(p *peer, binary string) jobsStarter {
	return func(ctx context.Context, c benchCase) (*jobsServer, error) {
		port, err := daemon.FreePort()
		if err != nil {
			return nil, err
		}
		address := fmt.Sprintf("127.0.0.1:%d", port)
		side := peer{name: p.name, command: func(dir string, amqpPort int) (*exec.Cmd, error) {
			return exec.Command(binary, "serve", "--data", filepath.Join(dir, "data"), "--amqp", fmt.Sprintf("127.0.0.1:%d", amqpPort),
				"--redis", address, "--sql", "off", "--etcd", "off", "--http", "off", "--metrics", "off"), nil
		}}
		b, err := side.start(ctx, c.oursEnv)
		if err != nil {
			return nil, err
		}
		p.version = side.version
		return &jobsServer{url: "redis://" + address, usage: func() (usage, error) { return oneUsage(b.pid()) }, kill: b.kill, destroy: b.destroy}, nil
	}
}

// measureJobs is measureOnce for the cases of jobs.
func measureJobs(ctx context.Context, c benchCase, p *peer, s settings) (values, error) {
	q, err := p.jobs(ctx, c)
	if err != nil {
		return nil, err
	}
	defer q.destroy()
	return within(ctx, c, q.kill, func(ctx context.Context) (values, error) { return c.jobs(ctx, q, s) })
}

// jobsBacklog is the number of jobs in the queue for the cases that only take jobs.
const jobsBacklog = 20_000

// jobsLoad runs a load of `fiveways bench jobs`.
func jobsLoad(load string, connections, depth int) jobsRunner {
	return func(ctx context.Context, q *jobsServer, s settings) (values, error) {
		o := jobs.DefaultOptions()
		o.Duration, o.Backlog = s.duration, int(s.scaled(jobsBacklog, 500))
		before, err := q.usage()
		if err != nil {
			return nil, err
		}
		once, err := jobs.Measure(ctx, o, q.url, load, connections, depth)
		if err != nil {
			return nil, err
		}
		after, err := q.usage()
		if err != nil {
			return nil, err
		}
		millis := func(quantile float64) float64 { return once.Latency.Quantile(quantile).Seconds() * 1e3 }
		return values{"rate": once.PerSecond, "p50": millis(0.5), "p99": millis(0.99), "cpu": microsEach(after.cpu-before.cpu, int64(once.Jobs))}, nil
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
			oursEnv: oursEnv, jobs: jobsLoad(load, connections, depth), floor: load != "work"})
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
