package workertest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"fiveways/worker"
)

// Suite is what Conformance checks.
type Suite struct {
	// Open gives a Jobs for one test. Its queues need not be empty: tests use names of their own.
	Open func(t *testing.T) worker.Jobs
	// NoHeaders: it does not keep the headers of jobs.
	NoHeaders bool
}

const (
	short = 80 * time.Millisecond // a backoff or lock that is waited for
	long  = 20 * time.Second      // a wait that does not run out when all is well
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

// bench is one test's: a Jobs, and a queue of its own.
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

// add enqueues what must become action, or fail with one of the interface's errors.
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

// get takes one job, and waits for it.
func (b bench) get(body string, attempt int) worker.Job {
	b.Helper()
	jobs, err := b.Take(b.ctx, worker.TakeOptions{Queues: []string{b.queue}, Wait: long})
	if err != nil || len(jobs) != 1 || string(jobs[0].Body) != body || jobs[0].Attempt != attempt || jobs[0].Queue != b.queue {
		b.Fatalf("took %+v, %v; want the job %q for the %d. time", jobs, err, body, attempt)
	}
	return jobs[0]
}

// nothing takes nothing.
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

// stale sees that a lease is over.
func (b bench) stale(l worker.Lease) {
	b.Helper()
	for name, err := range map[string]error{
		"done":   b.Done(b.ctx, l, 0),
		"retry":  b.Retry(b.ctx, l, 0),
		"fail":   b.Fail(b.ctx, l, "late"),
		"extend": b.Extend(b.ctx, l, time.Hour),
	} {
		if !errors.Is(err, worker.ErrStale) {
			b.Fatalf("%s with the lease %+v: %v; want ErrStale", name, l, err)
		}
	}
}

func inOrder(_ *testing.T, b bench) {
	for _, body := range []string{"a", "b", "c"} {
		b.add(body, worker.EnqueueOptions{}, worker.Added)
	}
	jobs, err := b.Take(b.ctx, worker.TakeOptions{Queues: []string{b.queue}, Count: 2})
	if err != nil || len(jobs) != 2 || string(jobs[0].Body) != "a" || string(jobs[1].Body) != "b" {
		b.Fatalf("took %+v, %v; want a and b", jobs, err)
	}
	for _, j := range jobs {
		if j.Lock != worker.DefaultLock || j.Attempt != 1 || j.Token == "" {
			b.Errorf("%+v: want the first attempt, a token and a lock of an hour", j)
		}
		if age := time.Since(j.Enqueued); age < -time.Minute || age > time.Minute {
			b.Errorf("enqueued at %v, which is not now", j.Enqueued)
		}
	}
	if jobs[0].Token == jobs[1].Token && jobs[0].MID == jobs[1].MID {
		b.Error("two jobs have one lease")
	}
	b.done(b.get("c", 1), 0)
	b.nothing()
}

func bodies(_ *testing.T, b bench) {
	every := make([]byte, 1000)
	for i := range every {
		every[i] = byte(i)
	}
	for _, body := range []string{"", "line\r\nline\r\n", string(every)} {
		b.add(body, worker.EnqueueOptions{}, worker.Added)
		b.done(b.get(body, 1), 0)
	}
	b.add("odd", worker.EnqueueOptions{MID: "id with\r\nodd \x00 bytes"}, worker.Added)
	if j := b.get("odd", 1); j.MID != "id with\r\nodd \x00 bytes" {
		b.Errorf("its id is %q", j.MID)
	}
}

func ownIDs(_ *testing.T, b bench) {
	first, second := b.add("same", worker.EnqueueOptions{}, worker.Added), b.add("same", worker.EnqueueOptions{}, worker.Added)
	if first == second {
		b.Errorf("two jobs have the id %q", first)
	}
	b.state(first, worker.Queued)
	if j := b.get("same", 1); j.MID != first {
		b.Errorf("took %q, want %q", j.MID, first)
	}
}

func whileQueued(_ *testing.T, b bench) {
	b.add("1", worker.EnqueueOptions{MID: "m"}, worker.Added)
	b.add("2", worker.EnqueueOptions{MID: "m"}, worker.ErrAlreadyQueued)
	b.add("2", worker.EnqueueOptions{MID: "m", Requeue: true}, worker.ErrAlreadyQueued)
	b.add("3", worker.EnqueueOptions{MID: "m", Update: true}, worker.Updated)
	b.add("4", worker.EnqueueOptions{MID: "m", ResetDelay: true, Backoff: long}, worker.Updated)
	b.state("m", worker.QueuedWithBackoff)
	b.add("5", worker.EnqueueOptions{MID: "m"}, worker.ErrAlreadyQueued)
	b.add("6", worker.EnqueueOptions{MID: "m", ResetDelay: true}, worker.Updated)
	b.get("3", 1)
}

func whileLocked(_ *testing.T, b bench) {
	b.add("1", worker.EnqueueOptions{MID: "m"}, worker.Added)
	j := b.get("1", 1)
	b.state("m", worker.Locked)
	b.add("2", worker.EnqueueOptions{MID: "m"}, worker.ErrLocked)
	b.add("2", worker.EnqueueOptions{MID: "m", Update: true}, worker.ErrLocked)
	b.add("3", worker.EnqueueOptions{MID: "m", Requeue: true}, worker.Added)
	b.state("m", worker.LockedWithRequeue)
	b.add("4", worker.EnqueueOptions{MID: "m", Requeue: true}, worker.ErrAlreadyQueued)
	b.add("5", worker.EnqueueOptions{MID: "m", Requeue: true, Update: true}, worker.Updated)
	b.nothing()
	b.done(j, 0)
	b.done(b.get("5", 1), 0)
	b.nothing()
}

func whileRemembered(_ *testing.T, b bench) {
	b.add("1", worker.EnqueueOptions{MID: "m"}, worker.Added)
	b.done(b.get("1", 1), long)
	if s := b.state("m", worker.DoneWithBackoff); s.Backoff <= 0 || s.Backoff > long {
		b.Errorf("%v are left of its backoff", s.Backoff)
	}
	b.add("2", worker.EnqueueOptions{MID: "m"}, worker.ErrBackoff)
	b.nothing()
	b.add("3", worker.EnqueueOptions{MID: "m", Requeue: true}, worker.Added)
	b.state("m", worker.DoneWithRequeue)
	b.nothing()
	b.add("other", worker.EnqueueOptions{MID: "n"}, worker.Added)
	b.done(b.get("other", 1), short)
	b.add("again", worker.EnqueueOptions{MID: "n", Requeue: true}, worker.Added)
	b.done(b.get("again", 1), 0)
}

func afterDone(_ *testing.T, b bench) {
	b.add("1", worker.EnqueueOptions{MID: "m"}, worker.Added)
	j := b.get("1", 1)
	b.done(j, 0)
	b.state("m", worker.DoneAwaitingGC, worker.None)
	b.stale(j.Lease)
	b.nothing()
	b.state("m", worker.None)
	b.add("2", worker.EnqueueOptions{MID: "m"}, worker.Added)
	b.done(b.get("2", 1), 0)
	b.add("3", worker.EnqueueOptions{MID: "m"}, worker.Added)
	b.get("3", 1)
}

func update(_ *testing.T, b bench) {
	b.add("1", worker.EnqueueOptions{MID: "m"}, worker.Added)
	b.add("behind", worker.EnqueueOptions{}, worker.Added)
	b.add("2", worker.EnqueueOptions{MID: "m", Update: true, Lock: time.Minute}, worker.Updated)
	if j := b.get("2", 1); j.Lock != time.Minute {
		b.Errorf("its lock is %v, want a minute", j.Lock)
	}
	b.get("behind", 1)
}

func delay(_ *testing.T, b bench) {
	begun := time.Now()
	b.add("later", worker.EnqueueOptions{MID: "m", Backoff: short}, worker.Added)
	if s := b.state("m", worker.QueuedWithBackoff); s.Backoff <= 0 || s.Backoff > short {
		b.Errorf("%v are left of its backoff", s.Backoff)
	}
	b.add("now", worker.EnqueueOptions{}, worker.Added)
	b.get("now", 1)
	b.get("later", 1)
	if took := time.Since(begun); took < short-5*time.Millisecond {
		b.Errorf("it was taken after %v", took)
	}
}

func retry(_ *testing.T, b bench) {
	b.add("1", worker.EnqueueOptions{MID: "m"}, worker.Added)
	first := b.get("1", 1)
	begun := time.Now()
	b.ok(b.Retry(b.ctx, first.Lease, short))
	b.state("m", worker.QueuedWithBackoff)
	second := b.get("1", 2)
	if took := time.Since(begun); took < short-5*time.Millisecond {
		b.Errorf("it came back after %v", took)
	}
	if d := second.Enqueued.Sub(first.Enqueued); d != 0 {
		b.Errorf("the time of its enqueue moved by %v", d)
	}
	b.stale(first.Lease)
	b.ok(b.Retry(b.ctx, second.Lease, 0))
	third := b.get("1", 3)
	if s := b.state("m", worker.Locked); s.Attempts != 3 || s.Lock <= 0 {
		b.Errorf("%+v: want three attempts, and some of the lock left", s)
	}
	b.done(third, 0)
	b.nothing()
}

func fail(_ *testing.T, b bench) {
	b.add("1", worker.EnqueueOptions{MID: "m"}, worker.Added)
	j := b.get("1", 1)
	b.ok(b.Fail(b.ctx, j.Lease, "no good\r\nat all"))
	b.stale(j.Lease)
	b.nothing()
	b.state("m", worker.None)
}

func lockRunsOut(_ *testing.T, b bench) {
	b.add("1", worker.EnqueueOptions{MID: "m"}, worker.Added)
	jobs, err := b.Take(b.ctx, worker.TakeOptions{Queues: []string{b.queue}, Lock: short})
	if err != nil || len(jobs) != 1 || jobs[0].Lock != short {
		b.Fatalf("took %+v, %v; want one, locked for %v", jobs, err, short)
	}
	second := b.get("1", 2)
	b.stale(jobs[0].Lease)
	b.state("m", worker.Locked)
	b.done(second, 0)
	b.stale(second.Lease)
}

func ownLock(_ *testing.T, b bench) {
	b.add("1", worker.EnqueueOptions{Lock: short}, worker.Added)
	if j := b.get("1", 1); j.Lock != short {
		b.Errorf("its lock is %v, want %v", j.Lock, short)
	}
	b.get("1", 2)
}

func extend(_ *testing.T, b bench) {
	b.add("1", worker.EnqueueOptions{MID: "m", Lock: 10 * short}, worker.Added)
	b.add("2", worker.EnqueueOptions{}, worker.Added)
	j := b.get("1", 1)
	b.ok(b.Extend(b.ctx, j.Lease, long))
	if s := b.state("m", worker.Locked); s.Lock <= 10*short {
		b.Errorf("%v are left of its lock", s.Lock)
	}
	b.ok(b.Extend(b.ctx, j.Lease, short))
	b.get("2", 1)
	b.get("1", 2)
	b.stale(j.Lease)
}

func severalQueues(t *testing.T, b bench) {
	other := b
	other.queue += "-other"
	t.Cleanup(func() { b.Jobs.Clear(context.Background(), other.queue) })
	other.add("1", worker.EnqueueOptions{}, worker.Added)
	b.add("2", worker.EnqueueOptions{}, worker.Added)
	var got []string
	for range 2 {
		jobs, err := b.Take(b.ctx, worker.TakeOptions{Queues: []string{b.queue, other.queue}, Count: 5, Wait: long})
		if err != nil || len(jobs) != 1 {
			b.Fatalf("took %+v, %v", jobs, err)
		}
		got = append(got, jobs[0].Queue+" "+string(jobs[0].Body))
	}
	if want := []string{b.queue + " 2", other.queue + " 1"}; !slices.Equal(got, want) {
		b.Errorf("took %q, want %q", got, want)
	}
}

func woken(_ *testing.T, b bench) {
	begun := time.Now()
	var wait sync.WaitGroup
	wait.Go(func() { b.add("1", worker.EnqueueOptions{}, worker.Added) })
	b.get("1", 1)
	wait.Wait()
	if took := time.Since(begun); took > long/2 {
		b.Errorf("it was taken after %v", took)
	}
}

func waitRunsOut(_ *testing.T, b bench) {
	begun := time.Now()
	jobs, err := b.Take(b.ctx, worker.TakeOptions{Queues: []string{b.queue}, Wait: short})
	if took := time.Since(begun); err != nil || len(jobs) > 0 || took < short-5*time.Millisecond || took > long {
		b.Errorf("took %+v, %v after %v; want nothing after %v", jobs, err, took, short)
	}
}

func givenUp(_ *testing.T, b bench) {
	ctx, cancel := context.WithTimeout(b.ctx, short)
	defer cancel()
	begun := time.Now()
	jobs, err := b.Take(ctx, worker.TakeOptions{Queues: []string{b.queue}, Wait: 2 * long})
	if took := time.Since(begun); !errors.Is(err, context.DeadlineExceeded) || len(jobs) > 0 || took > long {
		b.Errorf("took %+v, %v after %v; want DeadlineExceeded", jobs, err, took)
	}
	b.add("1", worker.EnqueueOptions{}, worker.Added)
	b.get("1", 1)
}

func nothingLost(_ *testing.T, b bench) {
	for i := range 20 {
		body := fmt.Sprint(i)
		ctx, cancel := context.WithCancel(b.ctx)
		var both sync.WaitGroup
		both.Go(func() { b.add(body, worker.EnqueueOptions{}, worker.Added) })
		both.Go(cancel)
		jobs, err := b.Take(ctx, worker.TakeOptions{Queues: []string{b.queue}, Wait: long})
		both.Wait()
		switch {
		case len(jobs) == 1 && err == nil && string(jobs[0].Body) == body:
			b.done(jobs[0], 0)
		case len(jobs) == 0 && errors.Is(err, context.Canceled):
			b.done(b.get(body, 1), 0)
		default:
			b.Fatalf("took %+v, %v", jobs, err)
		}
	}
}

func batch(_ *testing.T, b bench) {
	b.add("there", worker.EnqueueOptions{MID: "m"}, worker.Added)
	results, err := b.EnqueueAll(b.ctx, []worker.EnqueueRequest{
		{Queue: b.queue, Body: []byte("1")},
		{Queue: b.queue, Body: []byte("2"), EnqueueOptions: worker.EnqueueOptions{MID: "m"}},
		{Queue: b.queue, Body: []byte("3"), EnqueueOptions: worker.EnqueueOptions{MID: "m", Update: true}},
		{Queue: b.queue, Body: []byte("4"), EnqueueOptions: worker.EnqueueOptions{MID: "n", Backoff: long}},
	})
	if err != nil || len(results) != 4 {
		b.Fatalf("%+v, %v", results, err)
	}
	r := results
	if r[0].Err != nil || r[0].Action != worker.Added || r[0].MID == "" || !errors.Is(r[1].Err, worker.ErrAlreadyQueued) ||
		r[2].Err != nil || r[2].Action != worker.Updated || r[2].MID != "m" || r[3].Err != nil || r[3].Action != worker.Added {
		b.Fatalf("%+v", r)
	}
	b.get("3", 1)
	b.get("1", 1)
	b.nothing()
	if none, err := b.EnqueueAll(b.ctx, nil); err != nil || len(none) != 0 {
		b.Errorf("of nothing: %v, %v", none, err)
	}
}

func takenOnce(_ *testing.T, b bench) {
	const n = 200
	var requests []worker.EnqueueRequest
	for i := range n {
		requests = append(requests, worker.EnqueueRequest{Queue: b.queue, Body: fmt.Append(nil, i)})
	}
	_, err := b.EnqueueAll(b.ctx, requests)
	b.ok(err)
	var mu sync.Mutex
	seen := map[string]int{}
	var takers sync.WaitGroup
	for range 8 {
		takers.Go(func() {
			for {
				jobs, err := b.Take(b.ctx, worker.TakeOptions{Queues: []string{b.queue}, Count: 3})
				if err != nil {
					b.Error(err)
				}
				if len(jobs) == 0 {
					return
				}
				for _, j := range jobs {
					mu.Lock()
					seen[string(j.Body)]++
					mu.Unlock()
					if err := b.Done(b.ctx, j.Lease, 0); err != nil {
						b.Error(err)
					}
				}
			}
		})
	}
	takers.Wait()
	for body, times := range seen {
		if times != 1 {
			b.Errorf("%s was taken %d times", body, times)
		}
	}
	if len(seen) != n {
		b.Errorf("%d jobs were taken, want %d", len(seen), n)
	}
}

func content(_ *testing.T, b bench) {
	want := map[string]worker.State{"d": worker.QueuedWithBackoff, "l": worker.Locked, "r": worker.DoneWithBackoff}
	b.add("", worker.EnqueueOptions{MID: "l"}, worker.Added)
	b.get("", 1)
	b.add("", worker.EnqueueOptions{MID: "r"}, worker.Added)
	b.done(b.get("", 1), long)
	b.add("", worker.EnqueueOptions{MID: "d", Backoff: long}, worker.Added)
	for i := range 10 {
		mid := fmt.Sprintf("q%d", i)
		want[mid] = worker.Queued
		b.add("", worker.EnqueueOptions{MID: mid}, worker.Added)
	}
	s, err := b.QueueStatus(b.ctx, b.queue)
	if err != nil || s.Queued != 10 || s.Locked != 1 || s.Backoff < 1 || s.Backoff > 2 || s.Total < 12 {
		b.Errorf("status %+v, %v; want 10 queued, 1 locked, 1 or 2 in backoff", s, err)
	}
	got := map[string]worker.State{}
	cursor := ""
	for turn := 0; turn == 0 || cursor != ""; turn++ {
		entries, next, err := b.Content(b.ctx, b.queue, cursor, 4)
		if err != nil || turn > 50 {
			b.Fatalf("turn %d: %v", turn, err)
		}
		for _, e := range entries {
			got[e.MID] = e.State
		}
		cursor = next
	}
	for mid, state := range want {
		if got[mid] != state && mid != "r" || got[mid] != state && got[mid] != "" {
			b.Errorf("%q is listed as %q, want %q", mid, got[mid], state)
		}
	}
	if names, err := b.Names(b.ctx); err != nil || !slices.Contains(names, b.queue) {
		b.Errorf("names %q, %v; %q is not among them", names, err, b.queue)
	}
	missing := b.queue + "-missing"
	if s, err := b.QueueStatus(b.ctx, missing); err != nil || s != (worker.QueueStatus{}) {
		b.Errorf("a missing queue: %+v, %v", s, err)
	}
	if entries, next, err := b.Content(b.ctx, missing, "", 4); err != nil || len(entries) > 0 || next != "" {
		b.Errorf("a missing queue: %+v, %q, %v", entries, next, err)
	}
	if s, err := b.Status(b.ctx, missing, "m"); err != nil || s.State != worker.None {
		b.Errorf("a job of a missing queue: %+v, %v", s, err)
	}
}

func clearQueue(_ *testing.T, b bench) {
	b.add("1", worker.EnqueueOptions{MID: "locked"}, worker.Added)
	j := b.get("1", 1)
	b.add("2", worker.EnqueueOptions{MID: "later", Backoff: long}, worker.Added)
	b.add("3", worker.EnqueueOptions{MID: "remembered"}, worker.Added)
	b.done(b.get("3", 1), long)
	b.ok(b.Clear(b.ctx, b.queue))
	b.stale(j.Lease)
	b.nothing()
	for _, mid := range []string{"locked", "later", "remembered"} {
		b.state(mid, worker.None)
		b.add("new", worker.EnqueueOptions{MID: mid}, worker.Added)
		b.get("new", 1)
	}
}

func closed(_ *testing.T, b bench) {
	var wait sync.WaitGroup
	wait.Go(func() {
		if err := b.Close(); err != nil {
			b.Error(err)
		}
	})
	if jobs, err := b.Take(b.ctx, worker.TakeOptions{Queues: []string{b.queue}, Wait: long}); !errors.Is(err, worker.ErrClosed) || len(jobs) > 0 {
		b.Errorf("a take that waited: %+v, %v; want ErrClosed", jobs, err)
	}
	wait.Wait()
	if _, err := b.Enqueue(b.ctx, b.queue, nil, worker.EnqueueOptions{}); !errors.Is(err, worker.ErrClosed) {
		b.Errorf("an enqueue: %v; want ErrClosed", err)
	}
	if err := b.Close(); err != nil {
		b.Errorf("closed twice: %v", err)
	}
}

func headers(_ *testing.T, b bench) {
	b.add("1", worker.EnqueueOptions{Headers: map[string]string{"who": "me", "empty": ""}}, worker.Added)
	j := b.get("1", 1)
	if v, ok := j.Headers["empty"]; j.Headers["who"] != "me" || !ok || v != "" {
		b.Errorf("headers %q", j.Headers)
	}
}
