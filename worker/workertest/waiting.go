package workertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"fiveways.dev/fiveways/worker"
)

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
