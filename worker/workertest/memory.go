package workertest

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"fiveways.dev/fiveways/worker"
)

// Memory is an implementation of worker.Jobs in memory. It has the states, times and errors of a
// broker, stores nothing on disk, and uses the time of package time, so that it can be used in a
// bubble of testing/synctest. It ignores priorities, drops failed jobs, and expires no job while it
// is locked.
type Memory struct {
	mu      sync.Mutex
	queues  map[string]*queue
	changed chan struct{} // closed and replaced when something may have become ready
	numbers int           // of tokens and jobs issued
	closed  bool
}

// queue holds the jobs of a queue in order.
type queue struct{ jobs []*job }

// job is the record of an id. Its state follows from the record and the time.
type job struct {
	number      int // ascending from job to job
	mid         string
	content     version
	attempts    int
	first       time.Time
	backoff     time.Time // not taken and not forgotten before
	lockedUntil time.Time // zero: not locked
	token       string
	done        bool
	behind      *version // waits until this version is done
	cause       string   // the last reason given by a retry
}

// version is the content of an enqueue.
type version struct {
	body    []byte
	lock    time.Duration
	headers map[string]string
	expires time.Time
}

// NewMemory returns a Memory without jobs.
func NewMemory() *Memory {
	return &Memory{queues: map[string]*queue{}, changed: make(chan struct{})}
}

func (m *Memory) wake() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// find returns a queue, which it creates if necessary.
func (m *Memory) find(name string) *queue {
	q := m.queues[name]
	if q == nil {
		q = &queue{}
		m.queues[name] = q
	}
	return q
}

func (q *queue) job(mid string) *job {
	if i := slices.IndexFunc(q.jobs, func(j *job) bool { return j.mid == mid }); i >= 0 {
		return q.jobs[i]
	}
	return nil
}

func (q *queue) forget(j *job) {
	q.jobs = slices.DeleteFunc(q.jobs, func(o *job) bool { return o == j })
}

// state derives the state from the life cycle table.
func (j *job) state(now time.Time) worker.State {
	backoff := now.Before(j.backoff)
	switch {
	case j.done && j.behind != nil:
		return worker.DoneWithRequeue
	case j.done && backoff:
		return worker.DoneWithBackoff
	case j.done:
		return worker.DoneAwaitingGC
	case now.Before(j.lockedUntil) && j.behind != nil:
		return worker.LockedWithRequeue
	case now.Before(j.lockedUntil):
		return worker.Locked
	case backoff:
		return worker.QueuedWithBackoff
	}
	return worker.Queued
}

func (m *Memory) begin(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return worker.ErrClosed
	}
	return nil
}

// Enqueue implements worker.Jobs.
func (m *Memory) Enqueue(ctx context.Context, queue string, body []byte, o worker.EnqueueOptions) (worker.Enqueued, error) {
	if err := m.begin(ctx); err != nil {
		return worker.Enqueued{}, err
	}
	defer m.mu.Unlock()
	return m.enqueue(queue, body, o)
}

// EnqueueAll implements worker.Jobs.
func (m *Memory) EnqueueAll(ctx context.Context, requests []worker.EnqueueRequest) ([]worker.EnqueueResult, error) {
	if err := m.begin(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	results := make([]worker.EnqueueResult, len(requests))
	for i, r := range requests {
		results[i].Enqueued, results[i].Err = m.enqueue(r.Queue, r.Body, r.EnqueueOptions)
	}
	return results, nil
}

func (m *Memory) enqueue(name string, body []byte, o worker.EnqueueOptions) (worker.Enqueued, error) {
	now := time.Now()
	q := m.find(name)
	v := version{slices.Clone(body), o.Lock, o.Headers, time.Time{}}
	if o.Expire > 0 {
		v.expires = now.Add(o.Expire)
	}
	mid := o.MID
	if mid == "" {
		mid = rand.Text()
	}
	j := q.job(mid)
	if j != nil && j.expired(now) {
		q.forget(j)
		j = nil
	}
	defer m.wake()
	if j == nil {
		m.numbers++
		q.jobs = append(q.jobs, &job{number: m.numbers, mid: mid, content: v, first: now, backoff: now.Add(o.Backoff)})
		return worker.Enqueued{Action: worker.Added, MID: mid}, nil
	}
	action, err := j.again(v, o, now)
	if err != nil {
		return worker.Enqueued{}, fmt.Errorf("%w: %q", err, mid)
	}
	return worker.Enqueued{Action: action, MID: mid}, nil
}

// again enqueues an id that already exists.
func (j *job) again(v version, o worker.EnqueueOptions, now time.Time) (worker.Action, error) {
	switch state := j.state(now); state {
	case worker.Queued, worker.QueuedWithBackoff:
		if !o.Update && !o.ResetDelay {
			return "", worker.ErrAlreadyQueued
		}
		if o.Update {
			j.content = v
		}
		if o.ResetDelay {
			j.backoff = now.Add(o.Backoff)
		}
		return worker.Updated, nil
	case worker.Locked, worker.LockedWithRequeue:
		if !o.Requeue {
			return "", worker.ErrLocked
		}
	default:
		if !o.Requeue && now.Before(j.backoff) {
			return "", worker.ErrBackoff
		}
	}
	switch {
	case j.behind == nil:
		j.behind = &v
		return worker.Added, nil
	case o.Update:
		j.behind = &v
		return worker.Updated, nil
	}
	return "", worker.ErrAlreadyQueued
}

func (j *job) expired(now time.Time) bool {
	return !j.done && !now.Before(j.lockedUntil) && !j.content.expires.IsZero() && !now.Before(j.content.expires)
}

// Take implements worker.Jobs.
func (m *Memory) Take(ctx context.Context, o worker.TakeOptions) ([]worker.Job, error) {
	until := time.Now().Add(o.Wait)
	for {
		if err := m.begin(ctx); err != nil {
			return nil, err
		}
		now := time.Now()
		var jobs []worker.Job
		next := until
		for _, name := range o.Queues {
			var ready time.Time
			if jobs, ready = m.take(name, o, now); len(jobs) > 0 {
				break
			}
			if !ready.IsZero() && ready.Before(next) {
				next = ready
			}
		}
		changed := m.changed
		m.mu.Unlock()
		if len(jobs) > 0 || !now.Before(until) {
			return jobs, nil
		}
		t := time.NewTimer(next.Sub(now))
		select {
		case <-t.C:
		case <-changed:
		case <-ctx.Done():
		}
		t.Stop()
	}
}

// take takes the jobs that are ready now. If there are none, it returns the time at which one may
// become ready, or zero for never.
func (m *Memory) take(name string, o worker.TakeOptions, now time.Time) (jobs []worker.Job, next time.Time) {
	q := m.queues[name]
	if q == nil {
		return nil, next
	}
	for _, j := range slices.Clone(q.jobs) {
		if len(jobs) >= max(o.Count, 1) {
			break
		}
		if j.state(now) == worker.DoneWithRequeue && !now.Before(j.backoff) {
			*j = job{number: j.number, mid: j.mid, content: *j.behind, first: now}
		}
		switch state := j.state(now); {
		case state == worker.DoneAwaitingGC || j.expired(now):
			q.forget(j)
		case state == worker.Queued:
			jobs = append(jobs, m.lease(name, j, o.Lock, now))
		default:
			at := j.backoff
			if !j.done && j.lockedUntil.After(at) {
				at = j.lockedUntil
			}
			if next.IsZero() || at.Before(next) {
				next = at
			}
		}
	}
	return jobs, next
}

func (m *Memory) lease(name string, j *job, lock time.Duration, now time.Time) worker.Job {
	if j.content.lock > 0 {
		lock = j.content.lock
	}
	if lock <= 0 {
		lock = worker.DefaultLock
	}
	m.numbers++
	j.attempts++
	j.lockedUntil, j.token = now.Add(lock), strconv.Itoa(m.numbers)
	return worker.Job{
		Lease: worker.Lease{Queue: name, MID: j.mid, Token: j.token},
		Body:  slices.Clone(j.content.body), Attempt: j.attempts, Lock: lock, Enqueued: j.first, Headers: j.content.headers,
	}
}

// report changes a job if its lease is valid.
func (m *Memory) report(ctx context.Context, l worker.Lease, change func(j *job, now time.Time)) error {
	if err := m.begin(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	now := time.Now()
	if q := m.queues[l.Queue]; q != nil {
		if j := q.job(l.MID); j != nil && !j.done && j.token == l.Token && now.Before(j.lockedUntil) {
			change(j, now)
			m.wake()
			return nil
		}
	}
	return fmt.Errorf("%w: %q", worker.ErrStale, l.MID)
}

// Done implements worker.Jobs.
func (m *Memory) Done(ctx context.Context, l worker.Lease, remember time.Duration) error {
	return m.report(ctx, l, func(j *job, now time.Time) {
		j.done, j.lockedUntil, j.backoff = true, time.Time{}, now.Add(remember)
	})
}

// Retry implements worker.Jobs.
func (m *Memory) Retry(ctx context.Context, l worker.Lease, after time.Duration, text string) error {
	return m.report(ctx, l, func(j *job, now time.Time) {
		j.lockedUntil, j.backoff, j.cause = time.Time{}, now.Add(after), cmp.Or(text, j.cause)
	})
}

// Fail implements worker.Jobs.
func (m *Memory) Fail(ctx context.Context, l worker.Lease, _ string) error { return m.Done(ctx, l, 0) }

// Extend implements worker.Jobs.
func (m *Memory) Extend(ctx context.Context, l worker.Lease, lock time.Duration) error {
	return m.report(ctx, l, func(j *job, now time.Time) { j.lockedUntil = now.Add(lock) })
}
