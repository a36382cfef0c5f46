package semaphore

import (
	"context"
	"errors"
	"sync"
	"time"

	"fiveways.dev/fiveways/internal/bench/latency"
)

// places matches released places with the tasks acquired after them: the place that was released
// first is taken first.
type places struct {
	mu       sync.Mutex
	free     []time.Time // release times
	acquired int
	latency  latency.Histogram
	changed  chan struct{} // capacity 1: signals that a task was acquired
}

func (p *places) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, time.Now())
}

func (p *places) acquire() {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) == 0 {
		return // acquired during the filling
	}
	p.latency.Record(now.Sub(p.free[0]))
	p.free = p.free[1:]
	p.acquired++
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// state returns how many tasks were acquired, and how many places are free.
func (p *places) state() (acquired, free int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.acquired, len(p.free)
}

// errLost means that places stayed free.
var errLost = errors.New("places that were released are still free")

// handoverPatience is how long the last place may stay free. It is longer than the interval of
// sweeps.
const handoverPatience = 30 * time.Second

// handover releases running tasks at a steady rate, and measures the time until the next task is
// told to run. It waits while no running task is left to release.
func handover(ctx context.Context, o Options, s server) (Load, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p := &places{changed: make(chan struct{}, 1)}
	if err := s.watch(ctx, p.acquire, func(err error) { cancel(err) }); err != nil {
		return Load{}, err
	}
	c, err := s.connect(ctx)
	if err != nil {
		return Load{}, err
	}
	defer c.interrupt()
	defer context.AfterFunc(ctx, c.interrupt)()
	began := time.Now()
	starved, err := p.releaseOften(ctx, o, c)
	took := time.Since(began)
	if err == nil {
		err = p.untilTaken(ctx, o.Sweep+handoverPatience)
	}
	if err != nil {
		return Load{}, errors.Join(context.Cause(ctx), err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	l := newLoad("handover", &p.latency, took)
	l.Starved = 100 * starved.Seconds() / took.Seconds()
	return l, nil
}

// releaseOften releases tasks in order until the time is over, or no more tasks wait.
func (p *places) releaseOften(ctx context.Context, o Options, c client) (starved time.Duration, err error) {
	interval := time.Duration(float64(time.Second) / o.Rate)
	began := time.Now()
	due := began
	for task := 0; task < o.Waiting && time.Since(began) < o.Duration; task++ {
		if !sleep(ctx, time.Until(due)) {
			return starved, context.Cause(ctx)
		}
		before := time.Now()
		if err := p.untilRuns(ctx, task-o.Active); err != nil {
			return starved, err
		}
		now := time.Now()
		starved += now.Sub(before)
		if due = due.Add(interval); due.Before(now) {
			due = now
		}
		p.release()
		if err := c.release(task); err != nil {
			return starved, err
		}
	}
	return starved, nil
}

// untilRuns waits until more than n tasks were acquired.
func (p *places) untilRuns(ctx context.Context, n int) error {
	for {
		if acquired, _ := p.state(); acquired > n {
			return nil
		}
		select {
		case <-p.changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// untilTaken waits until no place is free.
func (p *places) untilTaken(ctx context.Context, patience time.Duration) error {
	late := time.After(patience)
	for {
		if _, free := p.state(); free == 0 {
			return nil
		}
		select {
		case <-p.changed:
		case <-late:
			return errLost
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
