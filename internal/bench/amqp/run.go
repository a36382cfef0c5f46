package amqp

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"fiveways.dev/fiveways/internal/bench/process"
	"fiveways.dev/fiveways/internal/protocol/amqp/amqpwire"
)

// run is the state shared by the connections of a Run.
type run struct {
	Options
	target target
	id     uint64 // part of every stamp
	start  time.Time

	sent, confirmed, nacked, received atomic.Uint64

	done     chan struct{} // closed when Count is reached
	doneOnce sync.Once
}

// now returns the time since the start of the run, by the monotonic clock.
func (r *run) now() time.Duration { return time.Since(r.start) }

// checkDone ends the run once Count is reached for messages published, confirmed and received.
func (r *run) checkDone() {
	if r.Count == 0 ||
		r.Publishers > 0 && r.sent.Load() < r.Count ||
		r.Publishers > 0 && r.Confirm > 0 && r.confirmed.Load()+r.nacked.Load() < r.Count ||
		r.Consumers > 0 && r.received.Load() < r.Count {
		return
	}
	r.doneOnce.Do(func() { close(r.done) })
}

// Progress is the state of a run in progress. The counts are since its start.
type Progress struct {
	Elapsed                   time.Duration
	Sent, Confirmed, Received uint64
}

// Run runs the load on the broker until Duration is over, Count is reached or ctx ends, and
// measures it. An early end of ctx is not an error. progress, if not nil, is called every second on
// Run's own goroutine.
func Run(ctx context.Context, o Options, progress func(Progress)) (Result, error) {
	if err := o.Validate(); err != nil {
		return Result{}, err
	}
	t, err := parseURL(o.URL)
	if err != nil {
		return Result{}, err
	}
	r := &run{Options: o, target: t, id: rand.Uint64(), start: time.Now(), done: make(chan struct{})} // #nosec G404 -- a name; no secret
	control, err := dial(t)
	if err != nil {
		return Result{}, err
	}
	defer control.Close()
	queues := r.queueNames()
	if o.Queue == "" {
		defer func() {
			for _, q := range queues {
				// The run is over. A queue that cannot be deleted is a problem of the broker that
				// has been reported before.
				_, _ = control.call(channel, &amqpwire.QueueDelete{Queue: q}, amqpwire.IDQueueDeleteOk)
			}
			control.shutdown()
		}()
	}
	for _, q := range queues {
		if _, err := control.call(channel, &amqpwire.QueueDeclare{Queue: q, Durable: o.Persist}, amqpwire.IDQueueDeclareOk); err != nil {
			return Result{}, fmt.Errorf("declare queue %s: %w", q, err)
		}
	}
	return r.load(ctx, queues, progress)
}

// queueNames returns the names of the queues. A single queue has exactly the name that the user
// gave.
func (r *run) queueNames() []string {
	prefix := r.Queue
	if prefix == "" {
		prefix = fmt.Sprintf("fiveways-bench-%d-%08x", os.Getpid(), uint32(r.id))
	}
	if r.Queues == 1 {
		return []string{prefix}
	}
	names := make([]string, r.Queues)
	for i := range names {
		names[i] = fmt.Sprintf("%s-%d", prefix, i)
	}
	return names
}

// load opens all connections, starts the clock, waits for the end and collects the result.
func (r *run) load(ctx context.Context, queues []string, progress func(Progress)) (Result, error) {
	var publishers []*publisher
	var consumers []*consumer
	defer func() {
		for _, p := range publishers {
			p.Close()
		}
		for _, k := range consumers {
			k.Close()
		}
	}()
	for i := range r.Publishers {
		quota := r.Count / uint64(r.Publishers)
		if uint64(i) < r.Count%uint64(r.Publishers) {
			quota++
		}
		if r.Count > 0 && quota == 0 {
			break // fewer messages than publishers
		}
		p, err := newPublisher(r, queues[i%len(queues)], quota)
		if err != nil {
			return Result{}, fmt.Errorf("publisher %d: %w", i, err)
		}
		publishers = append(publishers, p)
	}
	for i := range r.Consumers {
		k, err := newConsumer(r, queues[i%len(queues)])
		if err != nil {
			return Result{}, fmt.Errorf("consumer %d: %w", i, err)
		}
		consumers = append(consumers, k)
	}
	before, err := r.usage()
	if err != nil {
		return Result{}, err
	}

	runCtx, stop := context.WithTimeout(ctx, r.Duration)
	defer stop()
	failed := make(chan error, len(publishers)*2+len(consumers))
	guard := func(err error) {
		if err != nil && runCtx.Err() == nil {
			failed <- err
		}
	}
	var readers, writers sync.WaitGroup
	r.start = time.Now()
	for _, k := range consumers {
		readers.Go(func() { guard(k.read()) })
	}
	for _, p := range publishers {
		readers.Go(func() { guard(p.read()) })
		writers.Go(func() { guard(p.publish(runCtx)) })
	}

	err = r.wait(runCtx, failed, progress)
	result := r.snapshot()
	after, usageErr := r.usage()
	stop()
	for _, p := range publishers {
		p.window.close()
		// A broker that has stopped reading must not delay the end.
		_ = p.SetDeadline(time.Now().Add(closeTimeout))
	}
	writers.Wait()
	for _, p := range publishers {
		p.shutdown()
	}
	for _, k := range consumers {
		k.shutdown()
	}
	readers.Wait()
	if err := errors.Join(err, usageErr); err != nil {
		return Result{}, err
	}
	result.addUsage(before, after)
	result.addLatencies(publishers, consumers)
	return result, nil
}

// wait waits for the end of the run, and returns the error of a connection if that ended it.
func (r *run) wait(ctx context.Context, failed <-chan error, progress func(Progress)) error {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-r.done:
			return nil
		case err := <-failed:
			return err
		case <-second.C:
			if progress != nil {
				progress(Progress{r.now(), r.sent.Load(), r.confirmed.Load(), r.received.Load()})
			}
		}
	}
}

// usage returns the usage of the measured process, or zero if none is measured.
func (r *run) usage() (process.Usage, error) {
	if r.PID == 0 {
		return process.Usage{}, nil
	}
	return process.Read(r.PID)
}
