package jobs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"time"

	"fiveways.dev/fiveways/internal/bench/latency"
	"fiveways.dev/fiveways/internal/bench/option"
	"fiveways.dev/fiveways/internal/bench/process"
)

// IdleOptions configures Idle.
type IdleOptions struct {
	URL    string        `json:"url"`
	Queues int           `json:"queues"` // empty queues that have had jobs
	Takers int           `json:"takers"` // waiting connections, which share the queues equally
	Quiet  time.Duration `json:"quiet_ns"`
	Wakes  int           `json:"wakes"` // jobs enqueued afterwards, one by one
	Pause  time.Duration `json:"pause_ns"`
}

// DefaultIdleOptions returns the options used in docs/benchmarks.md.
func DefaultIdleOptions() IdleOptions {
	return IdleOptions{
		URL: DefaultOptions().URL, Queues: 10_000, Takers: 1000, Quiet: 10 * time.Second, Wakes: 2000, Pause: 2 * time.Millisecond,
	}
}

// IdleResult is the cost of idle workers, and how long a job takes to reach one. Latencies are in
// microseconds.
type IdleResult struct {
	Options IdleOptions `json:"options"`
	Server  string      `json:"server"`
	CPU     float64     `json:"cpu_percent"` // of a core while idle; -1 if the server is not local
	RSS     int64       `json:"rss_bytes"`   // 0 if the server is not local
	P50     float64     `json:"p50_us"`      // from sending an enqueue to the arrival at the taker
	P99     float64     `json:"p99_us"`
	Max     float64     `json:"max_us"`
	Confirm float64     `json:"confirm_p99_us"` // from sending an enqueue to its reply
}

// Validate returns an error for each invalid option, named as on the command line.
func (o IdleOptions) Validate() error {
	c := option.NewCheck(ErrInvalid)
	c.Within("queues", o.Queues, 1, 1_000_000)
	c.Within("takers", o.Takers, 1, 100_000)
	c.Within("wakes", o.Wakes, 1, 100_000_000)
	c.That(o.Takers <= o.Queues, "takers is %d; each needs a queue of its own", o.Takers)
	c.That(o.Quiet > 0 && o.Pause >= 0, "a time is too short")
	return c.Err()
}

// idleRun is a run of Idle.
type idleRun struct {
	o       IdleOptions
	admin   *conn
	arrived chan time.Time // one value for each job that a taker got and reported done
}

// Idle creates queues and takers that wait on them, leaves the broker idle for a while, and then
// enqueues jobs in random queues.
func Idle(ctx context.Context, o IdleOptions) (r IdleResult, err error) {
	if err := o.Validate(); err != nil {
		return r, err
	}
	run := &idleRun{o: o, arrived: make(chan time.Time, 1)}
	if run.admin, err = connect(o.URL); err != nil {
		return r, err
	}
	defer run.admin.close()
	r.Options = o
	if r.Server, err = describe(o.URL); err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, run.clear()) }()
	if err := run.makeQueues(); err != nil {
		return r, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var waiting sync.WaitGroup
	defer waiting.Wait()
	defer cancel(nil)
	if err := run.startTakers(ctx, cancel, &waiting); err != nil {
		return r, err
	}
	if r.CPU, r.RSS, err = run.rest(ctx); err != nil {
		return r, err
	}
	var wakes, confirms latency.Histogram
	if err := run.wake(ctx, &wakes, &confirms); err != nil {
		return r, err
	}
	r.P50, r.P99, r.Max, r.Confirm = wakes.Micros(0.5), wakes.Micros(0.99), wakes.Micros(1), confirms.Micros(0.99)
	return r, nil
}

func idleQueue(n int) string { return fmt.Sprintf("bench_idle_%d", n) }

// idleBatch is the number of queues created or cleared in one round trip.
const idleBatch = 500

// makeQueues passes one job through each queue.
func (r *idleRun) makeQueues() error {
	for from := 0; from < r.o.Queues; from += idleBatch {
		to := min(from+idleBatch, r.o.Queues)
		for n := from; n < to; n++ {
			r.admin.command("JOB.ENQUEUE", idleQueue(n), "x", "ID", "first")
			r.admin.command("JOB.CANCEL", idleQueue(n), "first")
		}
		if err := r.admin.flush(); err != nil {
			return err
		}
		if err := r.admin.skipAll(2 * (to - from)); err != nil {
			return err
		}
	}
	return nil
}

// clear removes all jobs.
func (r *idleRun) clear() error {
	c, err := connect(r.o.URL)
	if err != nil {
		return err
	}
	defer c.close()
	words := []string{"QUEUE.CLEAR"}
	for n := range r.o.Queues {
		words = append(words, idleQueue(n))
	}
	return c.do(words...)
}

// taker is a connection that waits on some queues.
type taker struct {
	*conn
	queues []string
}

func (r *idleRun) startTakers(ctx context.Context, cancel context.CancelCauseFunc, waiting *sync.WaitGroup) error {
	for n := range r.o.Takers {
		c, err := connect(r.o.URL)
		if err != nil {
			return err
		}
		t := &taker{conn: c}
		for q := n; q < r.o.Queues; q += r.o.Takers {
			t.queues = append(t.queues, idleQueue(q))
		}
		if err := t.await(); err != nil {
			c.close()
			return err
		}
		waiting.Go(func() {
			defer context.AfterFunc(ctx, c.close)()
			if err := t.serve(r.arrived); ctx.Err() == nil {
				cancel(err)
			}
		})
	}
	return nil
}

// await sends a take that waits.
func (t *taker) await() error {
	t.begin(3 + len(t.queues))
	t.arg("JOB.TAKE")
	for _, q := range t.queues {
		t.arg(q)
	}
	t.arg("BLOCK")
	t.arg("0")
	return t.flush()
}

// serve reports each job done and sends its time of arrival, until an error occurs.
func (t *taker) serve(arrived chan<- time.Time) error {
	for {
		jobs, err := commands{}.taken(t.conn, nil)
		at := time.Now()
		if err != nil {
			return err
		}
		for _, j := range jobs {
			queue, _, _ := strings.Cut(j.mid, "/")
			t.command("JOB.DONE", queue, j.mid, j.token)
		}
		if err := t.flush(); err != nil {
			return err
		}
		if err := t.skipAll(len(jobs)); err != nil {
			return err
		}
		if err := t.await(); err != nil {
			return err
		}
		for range jobs {
			arrived <- at
		}
	}
}

// rest leaves the broker idle, and returns the resources that it used meanwhile.
func (r *idleRun) rest(ctx context.Context) (cpu float64, rss int64, err error) {
	info, err := r.admin.ask("INFO", "server")
	if err != nil {
		return 0, 0, err
	}
	pid, _ := strconv.Atoi(field(info, "process_id"))
	if err := pause(ctx, min(r.o.Quiet, time.Second)); err != nil { // skip the connecting
		return 0, 0, err
	}
	before, known := process.Read(pid)
	began := time.Now()
	if err := pause(ctx, r.o.Quiet); err != nil {
		return 0, 0, err
	}
	after, _ := process.Read(pid)
	if known != nil || !strings.Contains(r.o.URL, "127.0.0.1") {
		return -1, 0, nil
	}
	return 100 * (after.CPU - before.CPU).Seconds() / time.Since(began).Seconds(), after.RSS, nil
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// wake enqueues jobs, each after the previous one has arrived.
func (r *idleRun) wake(ctx context.Context, wakes, confirms *latency.Histogram) error {
	for n := range r.o.Wakes {
		queue := idleQueue(rand.IntN(r.o.Queues))                                   // #nosec G404 -- a load; no secret
		r.admin.command("JOB.ENQUEUE", queue, "x", "ID", queue+"/"+strconv.Itoa(n)) // the id tells the taker the queue
		sent := time.Now()
		if err := r.admin.flush(); err != nil {
			return err
		}
		if err := r.admin.skip(); err != nil {
			return err
		}
		confirms.Record(time.Since(sent))
		select {
		case at := <-r.arrived:
			wakes.Record(at.Sub(sent))
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err := pause(ctx, r.o.Pause); err != nil {
			return err
		}
	}
	return nil
}

// WriteText writes the result as text.
func (r *IdleResult) WriteText(w io.Writer) error {
	cpu := "unknown: the server is not on this machine"
	if r.CPU >= 0 {
		cpu = fmt.Sprintf("%.2f %% of a core, %d MiB resident", r.CPU, r.RSS>>20)
	}
	_, err := fmt.Fprintf(w, "%s\n%d queues, %d takers that wait\nidle for %s: %s\n%d wakes: p50 %.0f µs, p99 %.0f µs, at most %.0f µs; the enqueue's own answer p99 %.0f µs\n",
		r.Server, r.Options.Queues, r.Options.Takers, r.Options.Quiet, cpu, r.Options.Wakes, r.P50, r.P99, r.Max, r.Confirm)
	return err
}
