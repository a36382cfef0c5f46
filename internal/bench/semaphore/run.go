package semaphore

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// load is one kind of work, on a semaphore that has been filled.
type load struct {
	name string
	run  func(context.Context, Options, server) (Load, error)
}

// loads are in the order in which they run.
var loads = []load{{"handover", handover}, {"changes", changes}}

// LoadNames are the names of the loads: a place that is released and taken by the next task, and
// changes as fast as they are done.
func LoadNames() (names []string) {
	for _, l := range loads {
		names = append(names, l.name)
	}
	return names
}

const (
	removePatience = time.Minute
	lookEvery      = 10 * time.Millisecond
)

// Run puts the loads on the server, each on a semaphore of its own that is deleted afterwards. done
// is called after each with its result; it may be nil.
func Run(ctx context.Context, o Options, done func(Load)) (Result, error) {
	if err := o.Validate(); err != nil {
		return Result{}, err
	}
	s, name, err := open(ctx, o)
	if err != nil {
		return Result{}, fmt.Errorf("semaphore bench: %w", err)
	}
	defer s.close()
	r := newResult(o, name)
	for _, l := range loads {
		for _, wanted := range o.Loads {
			if l.name != wanted {
				continue
			}
			one, err := runLoad(ctx, o, s, l)
			if err != nil {
				return r, fmt.Errorf("semaphore bench: %s: %w", l.name, err)
			}
			r.Loads = append(r.Loads, one)
			if done != nil {
				done(one)
			}
		}
	}
	return r, nil
}

// runLoad measures one load.
func runLoad(ctx context.Context, o Options, s server, l load) (_ Load, err error) {
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removePatience)
		defer cancel()
		err = errors.Join(err, s.remove(ctx))
	}()
	if err := s.prepare(ctx, o.Active, o.Active*9/10); err != nil {
		return Load{}, err
	}
	if err := s.fill(ctx, o.Active+o.Waiting); err != nil {
		return Load{}, err
	}
	for runs := false; !runs; { // all that may run
		if runs, err = s.runs(ctx, o.Active-1); err != nil {
			return Load{}, err
		}
		if !runs && !sleep(ctx, lookEvery) {
			return Load{}, ctx.Err()
		}
	}
	return l.run(ctx, o, s)
}

// sleep is false when ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
