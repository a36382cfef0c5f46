package workertest

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"testing"
	"time"

	"fiveways.dev/fiveways/worker"
)

// Suite configures Conformance.
type Suite struct {
	// Open returns a Jobs for one test. Its queues need not be empty: the tests use unique names.
	Open func(t *testing.T) worker.Jobs
	// NoHeaders is set if the implementation does not keep the headers of jobs.
	NoHeaders bool
}

const (
	short = 80 * time.Millisecond // a backoff or lock that tests wait for
	long  = 20 * time.Second      // a wait that does not expire in a successful test
)

// Conformance runs the tests of worker.Jobs.
func Conformance(t *testing.T, s Suite) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, b bench)
	}{
		{"in the order of the queue", inOrder},
		{"bodies are bytes", bodies},
		{"ids of their own", ownIDs},
		{"an id that is queued", whileQueued},
		{"an id that is locked", whileLocked},
		{"an id that is remembered", whileRemembered},
		{"an id that is done", afterDone},
		{"an update keeps the place", update},
		{"the first delay", delay},
		{"retry", retry},
		{"fail", fail},
		{"a lock that runs out", lockRunsOut},
		{"a lock of its own", ownLock},
		{"extend", extend},
		{"several queues", severalQueues},
		{"woken by an enqueue", woken},
		{"a wait that runs out", waitRunsOut},
		{"a take that is given up", givenUp},
		{"nothing is lost by giving up", nothingLost},
		{"many at once", batch},
		{"taken once", takenOnce},
		{"status and content", content},
		{"clear", clearQueue},
		{"closed", closed},
	} {
		t.Run(c.name, func(t *testing.T) { c.test(t, newBench(t, s)) })
	}
	if !s.NoHeaders {
		t.Run("headers", func(t *testing.T) { headers(t, newBench(t, s)) })
	}
}

// bench is the state of one test: a Jobs, and a queue for this test only.
type bench struct {
	*testing.T
	worker.Jobs
	ctx   context.Context
	queue string
}

func newBench(t *testing.T, s Suite) bench {
	b := bench{t, s.Open(t), t.Context(), "conformance-" + rand.Text()}
	t.Cleanup(func() {
		if err := b.Jobs.Clear(context.Background(), b.queue); err != nil && !errors.Is(err, worker.ErrClosed) {
			t.Errorf("clear: %v", err)
		}
		b.Jobs.Close()
	})
	return b
}

// add enqueues a job and checks the action, or the error of the interface.
func (b bench) add(body string, o worker.EnqueueOptions, want any) string {
	b.Helper()
	e, err := b.Enqueue(b.ctx, b.queue, []byte(body), o)
	switch want := want.(type) {
	case worker.Action:
		if err != nil || e.Action != want || e.MID == "" || o.MID != "" && e.MID != o.MID {
			b.Fatalf("enqueue %q: %+v, %v; want %s", body, e, err, want)
		}
	case error:
		if !errors.Is(err, want) {
			b.Fatalf("enqueue %q: %+v, %v; want the error %v", body, e, err, want)
		}
	}
	return e.MID
}

// get waits for a job, takes it, and checks it.
func (b bench) get(body string, attempt int) worker.Job {
	b.Helper()
	jobs, err := b.Take(b.ctx, worker.TakeOptions{Queues: []string{b.queue}, Wait: long})
	if err != nil || len(jobs) != 1 || string(jobs[0].Body) != body || jobs[0].Attempt != attempt || jobs[0].Queue != b.queue {
		b.Fatalf("took %+v, %v; want the job %q for the %d. time", jobs, err, body, attempt)
	}
	return jobs[0]
}

// nothing checks that there is no job to take.
func (b bench) nothing() {
	b.Helper()
	if jobs, err := b.Take(b.ctx, worker.TakeOptions{Queues: []string{b.queue}}); err != nil || len(jobs) > 0 {
		b.Fatalf("took %+v, %v; want nothing", jobs, err)
	}
}

func (b bench) state(mid string, want ...worker.State) worker.JobStatus {
	b.Helper()
	s, err := b.Status(b.ctx, b.queue, mid)
	if err != nil || !slices.Contains(want, s.State) {
		b.Fatalf("%q is %q, %v; want one of %q", mid, s.State, err, want)
	}
	return s
}

func (b bench) done(j worker.Job, remember time.Duration) {
	b.Helper()
	b.ok(b.Done(b.ctx, j.Lease, remember))
}

func (b bench) ok(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// stale checks that a lease has ended.
func (b bench) stale(l worker.Lease) {
	b.Helper()
	for name, err := range map[string]error{
		"done":   b.Done(b.ctx, l, 0),
		"retry":  b.Retry(b.ctx, l, 0, "late"),
		"fail":   b.Fail(b.ctx, l, "late"),
		"extend": b.Extend(b.ctx, l, time.Hour),
	} {
		if !errors.Is(err, worker.ErrStale) {
			b.Fatalf("%s with the lease %+v: %v; want ErrStale", name, l, err)
		}
	}
}
