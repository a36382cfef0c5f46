package jobs

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"time"

	"fiveways.dev/fiveways/internal/bench/latency"
	"fiveways.dev/fiveways/internal/bench/parallel"
)

// Run runs the loads on the servers, each on a new queue that is removed afterwards. done is called
// with the result of each load; it may be nil.
func Run(ctx context.Context, o Options, done func(Load)) (Result, error) {
	if err := o.Validate(); err != nil {
		return Result{}, err
	}
	targets := []string{o.URL}
	if o.Against != "" {
		targets = append(targets, o.Against)
	}
	r := newResult(o)
	for _, target := range targets {
		name, err := describe(target)
		if err != nil {
			return r, err
		}
		r.Servers = append(r.Servers, name)
	}
	for _, name := range o.Loads {
		for _, connections := range o.Connections {
			for _, depth := range o.Depths {
				l, err := runLoad(ctx, o, targets, named(name), connections, depth)
				if err != nil {
					return r, fmt.Errorf("%s, %d connections, depth %d: %w", name, connections, depth, err)
				}
				r.Loads = append(r.Loads, l)
				if done != nil {
					done(l)
				}
			}
		}
	}
	return r, nil
}

func connect(target string) (*conn, error) {
	u, err := url.Parse(target)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return dial(u)
}

func describe(target string) (string, error) {
	c, err := connect(target)
	if err != nil {
		return "", err
	}
	defer c.close()
	return server(c)
}

// runLoad repeats a load on each server in turn.
func runLoad(ctx context.Context, o Options, targets []string, l load, connections, depth int) (Load, error) {
	runs := make([][]Once, len(targets))
	for range o.Repetitions {
		for i, target := range targets {
			one, err := Measure(ctx, o, target, l.name, connections, depth)
			if err != nil {
				return Load{}, err
			}
			runs[i] = append(runs[i], one)
		}
	}
	return summed(l.name, connections, depth, runs), nil
}

// Once is the result of one repetition of a load on one server. The latency is that of a step with
// depth jobs.
type Once struct {
	Jobs      uint64
	PerSecond float64
	Latency   latency.Histogram
}

// Measure runs a load on a server once.
func Measure(ctx context.Context, o Options, target, name string, connections, depth int) (_ Once, err error) {
	l := named(name)
	admin, err := connect(target)
	if err != nil {
		return Once{}, err
	}
	defer admin.close()
	var d dialect = commands{}
	if !l.list {
		if d, err = speak(admin); err != nil {
			return Once{}, err
		}
	}
	var random [4]byte
	rand.Read(random[:]) // never fails
	queue := "bench_" + hex.EncodeToString(random[:])
	defer func() { err = errors.Join(err, remove(target, l, d, queue)) }()
	if l.backlog {
		k := newClient(admin, d, 0, queue, bodyOf(o.Size), fillDepth)
		for n := 0; n < o.Backlog; n += fillDepth {
			if err := errors.Join(ctx.Err(), k.enqueue()); err != nil {
				return Once{}, fmt.Errorf("jobs bench: fill the queue: %w", err)
			}
		}
	}
	var clients []*client
	defer func() {
		for _, k := range clients {
			k.close()
		}
	}()
	for i := range connections {
		c, err := connect(target)
		if err != nil {
			return Once{}, err
		}
		clients = append(clients, newClient(c, d, i+1, queue, bodyOf(o.Size), depth))
	}
	return driveAll(ctx, clients, l, o.Duration)
}

// fillDepth is the number of jobs enqueued in one pipeline before a load.
const fillDepth = 500

// driveAll runs the clients concurrently. If one fails, or ctx ends, the other connections are
// closed.
func driveAll(ctx context.Context, clients []*client, l load, d time.Duration) (Once, error) {
	began := time.Now()
	err := parallel.Do(ctx, len(clients), func(ctx context.Context, i int) error {
		defer context.AfterFunc(ctx, clients[i].close)()
		return clients[i].drive(l, began.Add(d))
	})
	took := time.Since(began)
	if err != nil {
		return Once{}, err
	}
	var r Once
	for _, k := range clients {
		r.Jobs += k.jobs
		r.Latency.Merge(&k.latency)
	}
	r.PerSecond = float64(r.Jobs) / took.Seconds()
	return r, nil
}

// remove removes everything over a new connection, because the others may have been closed.
func remove(target string, l load, d dialect, queue string) error {
	c, err := connect(target)
	if err != nil {
		return err
	}
	defer c.close()
	if l.list {
		return c.do("DEL", queue)
	}
	if err := d.remove(c, queue); err != nil {
		return fmt.Errorf("jobs bench: remove the queue: %w", err)
	}
	return nil
}
