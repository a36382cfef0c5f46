package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	"fiveways.dev/fiveways/internal/bench/semaphore"
	"fiveways.dev/fiveways/internal/sqlschema"
	"fiveways.dev/fiveways/test/postgres"

	"github.com/jackc/pgx/v5"
)

// semaphoreServer is a server with task semaphores, started on an empty folder for one run of one
// case.
type semaphoreServer struct {
	urls    map[string]string // by protocol, redis or sql; a server with SQL only is measured over SQL in all cases
	sweep   time.Duration     // interval of the sweep over tables; 0 if it has no tables
	kill    func()
	destroy func()
}

// semaphoreStarter starts a semaphoreServer.
type semaphoreStarter func(ctx context.Context, s settings) (*semaphoreServer, error)

// semaphoreRunner measures one case on a server started for it.
type semaphoreRunner func(ctx context.Context, q *semaphoreServer, s settings) (values, error)

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
	return semaphoresInPostgres(namePostgres, func(_ context.Context, q *semaphoreServer, s settings) error {
		q.sweep = s.sweep()
		return nil
	})
}

func functionsPeer() (*peer, error) {
	return semaphoresInPostgres(nameFunctions, func(ctx context.Context, q *semaphoreServer, _ settings) error {
		_, err := sqlschema.InstallSemaphores(ctx, q.urls["sql"])
		return err
	})
}

func semaphoresInPostgres(name string, prepare func(context.Context, *semaphoreServer, settings) error) (*peer, error) {
	if _, err := postgres.Bin(); err != nil {
		return nil, err
	}
	p := &peer{name: name}
	p.semaphore = func(ctx context.Context, s settings) (*semaphoreServer, error) {
		real, err := postgres.Open(postgres.Options{Fsync: true})
		if err != nil {
			return nil, err
		}
		q := &semaphoreServer{urls: map[string]string{"sql": real.DSN()}, kill: real.Close, destroy: real.Close}
		if err = prepare(ctx, q, s); err == nil {
			p.version, err = versionOf(ctx, real.DSN())
		}
		if err != nil {
			real.Close()
			return nil, err
		}
		return q, nil
	}
	return p, nil
}

// versionOf returns the version that a PostgreSQL reports.
func versionOf(ctx context.Context, dsn string) (version string, err error) {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	err = conn.QueryRow(ctx, "show server_version").Scan(&version)
	return version, err
}

// oursForSemaphores starts Fiveways with the Redis protocol, SQL and AMQP. An AMQP handshake shows
// when it is ready.
func oursForSemaphores(p *peer, binary string) semaphoreStarter {
	return func(ctx context.Context, _ settings) (*semaphoreServer, error) {
		addr, err := freePorts(2)
		if err != nil {
			return nil, err
		}
		side := peer{name: p.name, command: func(dir string, amqpPort int) (*exec.Cmd, error) {
			return exec.Command(binary, "serve", "--data", filepath.Join(dir, "data"), "--amqp", fmt.Sprintf("127.0.0.1:%d", amqpPort),
				"--redis", addr[0], "--sql", addr[1], "--etcd", "off", "--http", "off", "--metrics", "off"), nil
		}}
		b, err := side.start(ctx, nil)
		if err != nil {
			return nil, err
		}
		p.version = side.version
		return &semaphoreServer{urls: map[string]string{"redis": "redis://" + addr[0], "sql": "postgres://guest:guest@" + addr[1] + "/fiveways?sslmode=disable"},
			kill: b.kill, destroy: b.destroy}, nil
	}
}

// measureSemaphore is measureOnce for the cases of task semaphores.
func measureSemaphore(ctx context.Context, c benchCase, p *peer, s settings) (values, error) {
	q, err := p.semaphore(ctx, s)
	if err != nil {
		return nil, err
	}
	defer q.destroy()
	return within(ctx, c, q.kill, func(ctx context.Context) (values, error) { return c.semaphore(ctx, q, s) })
}

// semaphoreLoad runs a load of `fiveways bench semaphore` over a protocol.
func semaphoreLoad(load, protocol string, change func(*semaphore.Options, settings)) semaphoreRunner {
	return func(ctx context.Context, q *semaphoreServer, s settings) (values, error) {
		o := semaphore.DefaultOptions()
		o.URL, o.Loads, o.Duration, o.Sweep = q.urls[protocol], []string{load}, s.duration, q.sweep
		if o.URL == "" {
			o.URL = q.urls["sql"]
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
			semaphore: semaphoreLoad("handover", protocol, func(o *semaphore.Options, s settings) { o.Duration = max(s.duration, sweeps*s.sweep()) })})
	}
	for _, protocol := range []string{"redis", "sql"} {
		for _, clients := range []int{1, 16} {
			all = append(all, benchCase{name: fmt.Sprintf("semaphore-changes-%s-%d", protocol, clients), metrics: []metric{
				{name: "rate", unit: "changes/s", more: true}, {name: "p50", unit: "ms"}, {name: "p99", unit: "ms"},
			}, title: fmt.Sprintf("releases and enqueues, %s; Fiveways over %s", connectionsText(clients), names[protocol]),
				semaphore: semaphoreLoad("changes", protocol, func(o *semaphore.Options, _ settings) { o.Clients = clients })})
		}
	}
	return all
}
