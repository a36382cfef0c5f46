package carmine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"fiveways.dev/fiveways/worker"
)

// stepsAtOnce is the maximum number of messages that one script call examines, and maxTaken the
// number that it takes. While a script runs, Redis serves no other client.
const (
	stepsAtOnce = 500
	maxTaken    = 500
)

// Take implements worker.Jobs. A round visits every message of a queue once, in the order of its
// circle.
func (j *Jobs) Take(ctx context.Context, o worker.TakeOptions) ([]worker.Job, error) {
	if len(o.Queues) == 0 {
		return nil, errors.New("carmine: take: no queue is named")
	}
	deadline := time.Now().Add(o.Wait)
	for {
		if err := errors.Join(j.open(), ctx.Err()); err != nil {
			return nil, err
		}
		rest := j.poll
		var first round
		for i, queue := range o.Queues {
			r, err := j.round(ctx, queue, o)
			if err != nil || len(r.jobs) > 0 || r.left != nil {
				return r.jobs, errors.Join(err, r.left)
			}
			if i == 0 {
				first = r
			}
			if r.next >= 0 {
				rest = min(rest, r.next)
			}
		}
		if rest = min(rest, time.Until(deadline)); rest <= 0 && o.Wait <= 0 || time.Now().After(deadline) {
			return nil, nil
		}
		j.sleep(ctx, o.Queues[0], first.bed, max(rest, minSleep))
	}
}

// minSleep is the smallest time that Redis can wait. It is also long enough for a lock to have
// expired.
const minSleep = 2 * time.Millisecond

// round is the result of one pass over a queue.
type round struct {
	jobs []worker.Job
	bed  string        // the list to sleep on
	next time.Duration // until the first lock or backoff ends; negative if there is none
	left error         // errors to report for unreadable jobs
	many int           // number of jobs that left names
}

func (j *Jobs) round(ctx context.Context, queue string, o worker.TakeOptions) (round, error) {
	lock := o.Lock
	if lock <= 0 {
		lock = worker.DefaultLock
	}
	count := min(max(o.Count, 1), maxTaken)
	r := round{next: -1}
	for looked := int64(0); ; {
		reply, err := j.run(ctx, takeScript, queue, millis(lock), count, stepsAtOnce, randomID())
		if err != nil {
			return r, fmt.Errorf("carmine: take: %w", err)
		}
		t, err := taken(reply)
		if err != nil {
			return r, fmt.Errorf("carmine: take: %w", err)
		}
		r.bed = key(queue, "isleep-"+t.bed)
		if t.next >= 0 && (r.next < 0 || t.next < r.next) {
			r.next = t.next
		}
		for _, job := range t.jobs {
			job.Queue = queue
			j.keep(ctx, &r, job)
		}
		looked += t.looked
		if len(r.jobs) > 0 || looked >= t.size || t.looked == 0 {
			return r, nil
		}
	}
}

// keep adds a job to a round if its content can be read.
func (j *Jobs) keep(ctx context.Context, r *round, job worker.Job) {
	body, contentType, err := j.codec.Decode(job.Body)
	if err != nil {
		if err = j.leave(ctx, &job, err); err != nil && r.many < maxErrors {
			r.left = errors.Join(r.left, err)
			r.many++
		}
		return
	}
	if job.Body = body; contentType != Text {
		job.Headers = map[string]string{ContentTypeHeader: contentType}
	}
	r.jobs = append(r.jobs, job)
}

// takeReply is the reply of the script.
type takeReply struct {
	looked, size int64
	bed          string
	next         time.Duration
	jobs         []worker.Job
}

func taken(reply any) (t takeReply, err error) {
	f := fields{reply: reply}
	t.looked, t.size, t.bed, t.next = f.integer(0), f.integer(1), f.text(2), time.Duration(f.integer(3))*time.Millisecond
	for i := 4; i < f.len(); i++ {
		g := f.list(i)
		job := worker.Job{Body: []byte(g.text(1)), Attempt: int(g.integer(2)), Lock: time.Duration(g.integer(3)) * time.Millisecond}
		job.MID, job.Token = g.text(0), g.text(5)
		job.Enqueued = moment(g.integer(4))
		t.jobs = append(t.jobs, job)
		f.err = errors.Join(f.err, g.err)
	}
	return t, f.err
}

// moment converts unix milliseconds to a time. 0 is the zero time.
func moment(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// sleep returns when something was enqueued, when the time is over, or when ctx or j ends. Redis
// errors surface at the next look at the queue; until then sleep only waits.
func (j *Jobs) sleep(ctx context.Context, queue, bed string, d time.Duration) {
	other := key(queue, "isleep-a")
	if other == bed {
		other = key(queue, "isleep-b")
	}
	woken := make(chan error, 1)
	go func() {
		woken <- j.client.Do(context.WithoutCancel(ctx), "BRPOPLPUSH", bed, other, d.Seconds()).Err()
	}()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case err := <-woken:
		if err == nil || errors.Is(err, redis.Nil) {
			return
		}
		select { // Redis before 6 ignores fractions of a second, and a dead one never answers
		case <-timer.C:
		case <-ctx.Done():
		case <-j.done:
		}
	case <-ctx.Done():
	case <-j.done:
	}
}
