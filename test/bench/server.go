package main

import (
	"context"
	"fmt"
	"time"
)

// server is started on an empty folder for one run of one case.
type server struct {
	name    string            // of its peer
	urls    map[string]string // by protocol: sql, redis, etcd
	pid     int
	sweep   time.Duration // interval of the sweep over tables of semaphores; 0 if it has no such tables
	kill    func()
	destroy func()
}

// starter starts a server for a case.
type starter func(ctx context.Context, c benchCase, s settings) (*server, error)

// serverRunner measures one case on a server started for it.
type serverRunner func(ctx context.Context, q *server, s settings) (values, error)

// urlForms are the addresses of Fiveways as its clients expect them.
var urlForms = map[string]string{
	"sql": "postgres://guest:guest@%s/fiveways?sslmode=disable", "redis": "redis://%s", "etcd": "%s",
}

// starterOf starts Fiveways with some protocols and AMQP. The latter tells when it serves.
func starterOf(p *peer, binary string, protocols ...string) starter {
	return func(ctx context.Context, c benchCase, _ settings) (*server, error) {
		addresses, err := freeAddresses(len(protocols))
		if err != nil {
			return nil, err
		}
		q := &server{name: p.name, urls: map[string]string{}}
		on := map[string]string{}
		for i, protocol := range protocols {
			on[protocol] = addresses[i]
			q.urls[protocol] = fmt.Sprintf(urlForms[protocol], addresses[i])
		}
		b, err := p.start(ctx, serveCommand(binary, on), c.oursEnv)
		if err != nil {
			return nil, err
		}
		q.pid, q.kill, q.destroy = b.pid(), b.kill, b.destroy
		return q, nil
	}
}

// measureServer is measureOnce for the cases with a serverRunner.
func measureServer(ctx context.Context, c benchCase, p *peer, s settings) (values, error) {
	q, err := p.servers[c.part](ctx, c, s)
	if err != nil {
		return nil, err
	}
	defer q.destroy()
	return within(ctx, c, q.kill, func(ctx context.Context) (values, error) { return c.serve(ctx, q, s) })
}

// usage returns what the server has used so far: of PostgreSQL, all its processes.
func (q *server) usage() (usage, error) {
	if q.name == namePostgres {
		return familyUsage(q.pid)
	}
	return oneUsage(q.pid)
}

// cpu returns the CPU time of the server so far.
func (q *server) cpu() (time.Duration, error) {
	u, err := q.usage()
	return u.cpu, err
}
