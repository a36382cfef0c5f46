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

// run is what the connections of one Run share.
type run struct {
	Options
	target target
	id     uint64 // in every stamp
	start  time.Time

	sent, confirmed, nacked, received atomic.Uint64

	done     chan struct{} // closed once Count is reached
	doneOnce sync.Once
}

// now is the time since the start of the run, by the monotonic clock.
func (r *run) now() time.Duration { return time.Since(r.start) }

// checkDone ends the run when everything that Count asks for has happened.
func (r *run) checkDone() {
	if r.Count == 0 ||
		r.Publishers > 0 && r.sent.Load() < r.Count ||
		r.Publishers > 0 && r.Confirm > 0 && r.confirmed.Load()+r.nacked.Load() < r.Count ||
		r.Consumers > 0 && r.received.Load() < r.Count {
		return
	}
	r.doneOnce.Do(func() { close(r.done) })
}

// Progress is the state of a run under way; the counts are since its start.
type Progress struct {
	Elapsed                   time.Duration
	Sent, Confirmed, Received uint64
}

// Run puts the load on the broker until Duration is over, Count is reached or ctx ends, and
// measures it. A ctx that ends early is no error. progress, when not nil, is called every second
// from Run's own goroutine.
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
				// The run is over; a queue that cannot be deleted is the broker's trouble, which it
				// has told before.
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

// queueNames are the names of the queues in use, the user's own as it stands when there is but one.
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

// load connects all, starts the clock, waits for the end and collects the result.
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
		// A broker that stopped reading must not hold up the end.
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

// wait returns when the run is over, with the first error of a connection if that ended it.
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

// usage reads the measured process; without one it is zero.
func (r *run) usage() (process.Usage, error) {
	if r.PID == 0 {
		return process.Usage{}, nil
	}
	return process.Read(r.PID)
}
