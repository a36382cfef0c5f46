package semaphore

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// load is a kind of work on a semaphore with tasks.
type load struct {
	name string
	run  func(context.Context, Options, server) (Load, error)
}

// loads lists the loads in the order in which they run.
var loads = []load{{"handover", handover}, {"changes", changes}}

// LoadNames returns the names of the loads: handing a released place over to the next task, and
// changes as fast as possible.
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

// Run runs the loads on the server, each on a new semaphore that is deleted afterwards. done is
// called with the result of each load; it may be nil.
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
	for runs := false; !runs; { // until all tasks run that may run
		if runs, err = s.runs(ctx, o.Active-1); err != nil {
			return Load{}, err
		}
		if !runs && !sleep(ctx, lookEvery) {
			return Load{}, ctx.Err()
		}
	}
	return l.run(ctx, o, s)
}

// sleep waits for d. It returns false if ctx ends first.
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
