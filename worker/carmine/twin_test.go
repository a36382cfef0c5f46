package carmine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"fiveways.dev/fiveways/worker"
)

// twin is a minimal model of the life cycle of jobs: one queue, no order.
type twin struct {
	now int64 // ms
	v2  bool
	all map[string]*twinJob
}

type twinJob struct {
	body, behind       string
	lockMs, behindLock int64
	waits, done        bool
	backoff, lock      int64 // end times; 0: none
	attempts           int
	token              string
}

func (w *twin) state(mid string) worker.State {
	j := w.all[mid]
	if j == nil {
		return worker.None
	}
	base := "queued"
	if j.done {
		base = "done"
	} else if w.now < j.lock {
		base = "locked"
	}
	return stateOf(base, w.now < j.backoff, j.waits)
}

func (w *twin) wait(j *twinJob, body string, o worker.EnqueueOptions) (worker.Action, error) {
	if j.waits && !o.Update {
		return "", worker.ErrAlreadyQueued
	}
	action := worker.Added
	if j.waits {
		action = worker.Updated
	}
	j.waits, j.behind, j.behindLock = true, body, o.Lock.Milliseconds()
	return action, nil
}

func (w *twin) enqueue(body string, o worker.EnqueueOptions) (worker.Action, error) {
	j := w.all[o.MID]
	setBackoff := func() {
		if j.backoff = 0; o.Backoff > 0 {
			j.backoff = w.now + o.Backoff.Milliseconds()
		}
	}
	switch w.state(o.MID) {
	case worker.None:
		j = &twinJob{body: body, lockMs: o.Lock.Milliseconds()}
		w.all[o.MID] = j
		setBackoff()
		return worker.Added, nil
	case worker.Queued, worker.QueuedWithBackoff:
		if !o.Update && !o.ResetDelay {
			return "", worker.ErrAlreadyQueued
		}
		if o.Update {
			j.body, j.lockMs, j.token = body, o.Lock.Milliseconds(), ""
		}
		if o.ResetDelay {
			setBackoff()
		}
		return worker.Updated, nil
	case worker.Locked, worker.LockedWithRequeue:
		if !o.Requeue {
			return "", worker.ErrLocked
		}
		return w.wait(j, body, o)
	}
	if w.now < j.backoff {
		if !o.Requeue {
			return "", worker.ErrBackoff
		}
		return w.wait(j, body, o)
	}
	action, err := w.wait(j, body, o)
	if w.v2 && err == nil {
		j.requeue()
		j.backoff = 0
	}
	return action, err
}

func (j *twinJob) requeue() {
	j.body, j.lockMs, j.waits, j.done, j.attempts, j.token = j.behind, j.behindLock, false, false, 0, ""
}

// takeable returns the ids of which a take returns one. It removes jobs that are finished and
// forgotten.
func (w *twin) takeable() map[string]bool {
	ids := map[string]bool{}
	for mid, j := range w.all {
		switch {
		case w.now < j.backoff || !j.done && w.now < j.lock:
		case !j.done || j.waits:
			ids[mid] = true
		}
	}
	return ids
}

func (w *twin) take(mid, token string, lock int64) *twinJob {
	j := w.all[mid]
	if j.done {
		j.requeue()
	}
	if j.lockMs > 0 {
		lock = j.lockMs
	}
	j.lock, j.token = w.now+lock, token
	j.attempts++
	return j
}

func (w *twin) report(l worker.Lease, done bool, backoff int64) error {
	j := w.all[l.MID]
	if j == nil || j.token != l.Token {
		return worker.ErrStale
	}
	j.token, j.lock, j.backoff = "", 0, 0
	if backoff > 0 {
		j.backoff = w.now + backoff
	}
	if j.done = done; done && j.waits && w.v2 {
		j.requeue()
	}
	return nil
}

// step performs a random operation on both.
func step(t *testing.T, random *rand.Rand, w *twin, j *Jobs, client *redis.Client, leases *[]worker.Lease) string {
	ctx := context.Background()
	some := func(n int) time.Duration { return time.Duration(random.IntN(n)) * time.Minute }
	switch random.IntN(6) {
	case 0, 1:
		o := worker.EnqueueOptions{MID: string(rune('a' + random.IntN(4))), Update: random.IntN(2) == 0, Requeue: random.IntN(2) == 0, ResetDelay: random.IntN(4) == 0}
		if random.IntN(3) == 0 {
			o.Backoff = some(20)
		}
		if random.IntN(3) == 0 {
			o.Lock = some(20)
		}
		body := fmt.Sprint(random.IntN(5))
		action, wantErr := w.enqueue(body, o)
		got, err := j.Enqueue(ctx, q, []byte(body), o)
		if !errors.Is(err, wantErr) || got.Action != action && err == nil {
			t.Fatalf("enqueue %s %+v: %v, %v; want %v, %v", body, o, got, err, action, wantErr)
		}
		return fmt.Sprintf("enqueue %s %+v: %v", body, o, err)
	case 2, 3:
		lock := 10 * time.Minute
		jobs, err := j.Take(ctx, worker.TakeOptions{Queues: []string{q}, Lock: lock})
		ids := w.takeable()
		if err != nil || len(jobs) == 0 != (len(ids) == 0) {
			t.Fatalf("took %v, %v of %v", jobs, err, ids)
		}
		for _, job := range jobs {
			if !ids[job.MID] {
				t.Fatalf("took %v of %v", job, ids)
			}
			x := w.take(job.MID, job.Token, lock.Milliseconds())
			if string(job.Body) != x.body || job.Attempt != x.attempts || job.Lock.Milliseconds() != x.lock-w.now {
				t.Fatalf("took %+v; want %+v", job, x)
			}
			*leases = append(*leases, job.Lease)
		}
		return fmt.Sprintf("take %+v", jobs)
	case 4:
		if len(*leases) == 0 {
			return ""
		}
		l := (*leases)[random.IntN(len(*leases))]
		backoff := some(15)
		done := random.IntN(3) > 0
		want := w.report(l, done, backoff.Milliseconds())
		report := func() error { return j.Retry(ctx, l, backoff, "") }
		if done {
			report = func() error { return j.Done(ctx, l, backoff) }
		}
		if err := report(); !errors.Is(err, want) {
			t.Fatalf("report %+v done %v: %v; want %v", l, done, err, want)
		}
		return fmt.Sprintf("report %+v done %v backoff %v: %v", l, done, backoff, want)
	}
	d := some(10)
	pass(t, client, q, d)
	w.now += d.Milliseconds()
	return fmt.Sprint("pass ", d)
}

// TestTwin compares Jobs with the model. The model's times are whole minutes. The clock of Redis is
// slightly ahead, so what ends now in the model has ended there too.
func TestTwin(t *testing.T) {
	eachVersion(t, func(t *testing.T, j *Jobs, client *redis.Client) {
		for seed := range uint64(6) {
			ok(t, j.Clear(context.Background(), q))
			random := rand.New(rand.NewPCG(seed, 6))
			w := &twin{now: 1 << 30, v2: j.oldest == 2, all: map[string]*twinJob{}}
			var leases []worker.Lease
			var done []string
			for range 250 {
				did := step(t, random, w, j, client, &leases)
				done = append(done, did)
				for mid := 'a'; mid < 'e'; mid++ {
					s, err := j.Status(context.Background(), q, string(mid))
					ok(t, err)
					want := w.state(string(mid))
					if s.State == worker.None && want == worker.DoneAwaitingGC {
						delete(w.all, string(mid)) // a take has visited it
					} else if s.State != want {
						t.Fatalf("seed %d: %c is %q, want %q, after\n%s", seed, mid, s.State, want, done)
					}
				}
			}
		}
	})
}
