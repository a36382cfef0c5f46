package sql

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"
)

// fillChunk is the number of messages that one statement posts before a load.
const fillChunk = 10_000

// dropPatience is how long dropping a run's queue may take, also after an interruption.
const dropPatience = time.Minute

// Run runs the loads, each on a new queue that is dropped afterwards. done is called with the
// result of each load; it may be nil.
func Run(ctx context.Context, o Options, done func(Load)) (Result, error) {
	if err := o.Validate(); err != nil {
		return Result{}, err
	}
	r := newResult(o)
	for _, name := range o.Loads {
		l, err := runLoad(ctx, o, named(name))
		if err != nil {
			return r, fmt.Errorf("%s: %w", name, err)
		}
		r.Loads = append(r.Loads, l)
		if done != nil {
			done(l)
		}
	}
	return r, nil
}

// runLoad measures one load.
func runLoad(ctx context.Context, o Options, l load) (_ Load, err error) {
	var random [4]byte
	rand.Read(random[:]) // never fails
	queue := "bench_" + hex.EncodeToString(random[:])
	texts := statements(queue, o)
	texts["create"] = "select mbus4.create_queue('" + queue + "', " + strconv.Itoa(min(o.Clients, maxHint)) + ")"
	texts["drop"] = "select mbus4.drop_queue('" + queue + "')"
	texts["fill"] = fillStatement(queue, o)

	admin, err := connect(ctx, o, texts)
	if err != nil {
		return Load{}, err
	}
	defer admin.close()
	if _, err := admin.run("create"); err != nil {
		return Load{}, fmt.Errorf("sql bench: make a queue: %w", err)
	}
	defer func() { err = errors.Join(err, drop(o, texts)) }()
	if l.backlog {
		if err := admin.fill(ctx, o.Backlog); err != nil {
			return Load{}, err
		}
	}
	clients, err := connectAll(ctx, o, texts)
	defer func() {
		for _, k := range clients {
			k.close()
		}
	}()
	if err != nil {
		return Load{}, err
	}
	began := time.Now()
	if err := driveAll(ctx, clients, l, began.Add(o.Duration)); err != nil {
		return Load{}, err
	}
	return measured(l.name, clients, time.Since(began)), nil
}

// maxHint is the maximum number of consumers that a queue is created for.
const maxHint = 64

// drop drops the queue over a new connection, because the others may have been closed.
func drop(o Options, texts map[string]string) error {
	ctx, cancel := context.WithTimeout(context.Background(), dropPatience)
	defer cancel()
	k, err := connect(ctx, o, texts)
	if err != nil {
		return err
	}
	defer k.close()
	if _, err := k.run("drop"); err != nil {
		return fmt.Errorf("sql bench: drop the queue: %w", err)
	}
	return nil
}

// fill posts n messages.
func (k *client) fill(ctx context.Context, n int) error {
	for n > 0 && ctx.Err() == nil {
		chunk := min(n, fillChunk)
		if _, err := k.run("fill", strconv.Itoa(chunk)); err != nil {
			return fmt.Errorf("sql bench: fill the queue: %w", err)
		}
		n -= chunk
	}
	return ctx.Err()
}

// connectAll opens the connections and prepares their statements before the measurement starts. The
// caller must close the returned clients even after an error.
func connectAll(ctx context.Context, o Options, texts map[string]string) (clients []*client, err error) {
	prepared := slices.Sorted(maps.Keys(statements("", o)))
	for range o.Clients {
		k, err := connect(ctx, o, texts)
		if err != nil {
			return clients, err
		}
		clients = append(clients, k)
		for _, statement := range prepared {
			if err := k.prepare(statement); err != nil {
				return clients, err
			}
		}
	}
	return clients, nil
}

// driveAll runs the clients concurrently. If one fails, the others are interrupted.
func driveAll(ctx context.Context, clients []*client, l load, deadline time.Time) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var wg sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for _, k := range clients {
		wg.Go(func() {
			err := k.drive(ctx, l, deadline)
			mu.Lock()
			defer mu.Unlock()
			if err != nil && failed == nil {
				failed = err
				cancel()
			}
		})
	}
	wg.Wait()
	return failed
}
