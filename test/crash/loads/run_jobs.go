package loads

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	amqp "github.com/rabbitmq/amqp091-go"

	"fiveways.dev/fiveways/test/crash/history"
)

const (
	jobWorkers   = 8
	maxJobEvents = 2000 // per round
)

// crashJobs runs the workers of jobs. It is the Run of a Load.
func crashJobs(t *testing.T, p Plan, up func() Broker) {
	t.Helper()
	r := &jobCrashes{t: t, plan: p, up: up, history: &history.Jobs{}}
	r.newClients()
	p.rounds(maxJobEvents, 5, func() bool { return len(r.missing()) == 0 }, r.crash)
	r.finish()
	r.judge()
}

// jobCrashes is one sequence of kills.
type jobCrashes struct {
	t       *testing.T
	up      func() Broker
	plan    Plan
	history *history.Jobs
	clients []*jobClient // the first one enqueues
}

func (r *jobCrashes) newClients() {
	known, pace := &rememberedIDs{}, r.plan.pace(1)
	for n := range jobWorkers + 1 {
		r.clients = append(r.clients, &jobClient{
			history: r.history, rng: r.plan.rng(n + 1), pace: pace, worker: n, known: known, tokens: map[int64]string{},
		})
	}
}

// start starts the broker. It declares the job queue and its dead-letter queue at the first start.
func (r *jobCrashes) start() Broker {
	r.t.Helper()
	b := r.up()
	ch := channel(r.t, b)
	deadLettering := amqp.Table{"x-dead-letter-exchange": "", "x-dead-letter-routing-key": deadJobs}
	if err := errors.Join(declareQueues(ch, deadLettering, jobQueue), declareQueues(ch, nil, deadJobs)); err != nil {
		r.t.Fatalf("%v\n%s", err, b.Log())
	}
	return b
}

// crash lets the clients work until they have recorded this many events, and kills the broker.
func (r *jobCrashes) crash(events int) {
	b := r.start()
	enough := r.history.Grown(events)
	var killed, over atomic.Bool
	killed.Store(r.plan.Again) // a node may lose its lead before the kill
	errs := make([]error, len(r.clients))
	var working sync.WaitGroup
	for n, c := range r.clients {
		step := c.takeAndHandle
		if n == 0 {
			step = c.enqueue
		}
		working.Go(func() {
			errs[n] = c.work(b.RedisAddr(), &killed, step)
			for r.plan.Again && errs[n] == nil && !over.Load() {
				errs[n] = c.work(b.RedisAddr(), &killed, step)
			}
		})
	}
	trouble := await(b, events, enough, nil, nil)
	killed.Store(true)
	b.Kill()
	over.Store(true)
	r.history.Add(history.JobEvent{Kind: history.JobKilled, From: now(), Answer: history.Good})
	working.Wait()
	for _, err := range errs {
		if err != nil {
			r.t.Error(err)
		}
	}
	if trouble != nil {
		r.t.Error(trouble)
	}
	if r.t.Failed() {
		r.t.Fatalf("broker:\n%s", b.Log())
	}
}

// finish starts the broker a last time, handles all jobs that are left, and reads the dead letters.
func (r *jobCrashes) finish() {
	b := r.start()
	defer b.Kill()
	c := r.clients[1]
	c.connect(b.RedisAddr())
	defer c.redis.Close()
	deadline := time.Now().Add(patience)
	for {
		jobs, err := c.take(100, 100)
		if err != nil {
			r.t.Fatal(err)
		}
		for _, job := range jobs {
			if err := c.report(history.JobDone, job, 0); err != nil {
				r.t.Fatal(err)
			}
		}
		if len(jobs) == 0 && r.left(c) == 0 {
			break
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("%d jobs are left after %s", r.left(c), patience)
		}
	}
	r.exhume(c)
	if err := b.Stop(); err != nil {
		r.t.Error(err)
	}
}

// left returns the number of unfinished jobs.
func (r *jobCrashes) left(c *jobClient) int64 {
	reply, err := c.redis.Do(context.Background(), "QUEUE.STATUS", jobQueue).Result()
	if err != nil {
		r.t.Fatal(err)
	}
	counts := reply.(map[any]any)
	return counts["nqueued"].(int64) + counts["nlocked"].(int64) + counts["nbackoff"].(int64)
}

// exhume records all dead letters.
func (r *jobCrashes) exhume(c *jobClient) {
	for {
		reply, err := c.redis.Do(context.Background(), "JOB.TAKE", deadJobs, "COUNT", 1000, "LOCK", time.Hour.Milliseconds()).Result()
		if err != nil {
			r.t.Fatal(err)
		}
		jobs := reply.([]any)
		if len(jobs) == 0 {
			return
		}
		for _, one := range jobs {
			job := one.(map[any]any)
			r.history.Add(history.JobEvent{Kind: history.JobBuried, MID: job["body"].(string), Answer: history.Good}) // copies differ by id
			if text := job["headers"].(map[any]any)["x-error"]; text != "it failed" {
				r.t.Errorf("dead letter %v has the error %v", job["mid"], text)
			}
		}
	}
}

// countJobs counts events by their kind and answer.
func countJobs(events []history.JobEvent) map[string]int {
	counts := map[string]int{}
	for _, e := range events {
		name := e.Kind.String()
		if e.Answer != history.Good {
			name += " " + e.Answer.String()
		}
		counts[name]++
	}
	return counts
}

// missing returns what the run must show and has not shown yet.
func (r *jobCrashes) missing() (kinds []string) {
	counts := countJobs(r.history.Events())
	for _, kind := range []string{"enqueued", "done", "retried", "failed", "extended", "probed remembered", "done stale", "lost ?"} {
		if counts[kind] == 0 {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// prolong lets requests without an answer take effect after the end of their connection too,
// because another node may have forwarded them.
func prolong(events []history.JobEvent) {
	for n := range events {
		if e := &events[n]; e.Answer == history.Unknown || e.Kind == history.JobLost {
			e.To += patience.Milliseconds()
		}
	}
}

// judge checks the history.
func (r *jobCrashes) judge() {
	events := r.history.Events()
	r.t.Log(countJobs(events))
	if r.plan.Again {
		prolong(events)
	}
	reportBreaches(r.t, append(history.CheckJobs(events), history.LinearizeJobs(events)...))
	if missing := r.missing(); r.plan.Rate == 0 && len(missing) > 0 {
		r.t.Errorf("the run was too short to show anything: nothing was %q", missing)
	}
	keepHistory(r.t, events)
}
