package worker_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/worker"
	"fiveways.dev/fiveways/worker/workertest"
)

// TestWhatHandlersSay checks each possible result of a handler: the state of its job, and how it is
// counted.
func TestWhatHandlersSay(t *testing.T) {
	for _, c := range []struct {
		name    string
		handler func() error
		state   worker.State
		backoff time.Duration
		counts  worker.Counts
		failed  string // part of the text stored with the failed job
	}{
		{"success", func() error { return nil }, worker.None, 0, worker.Counts{Success: 1}, ""},
		{"remembered", func() error { return worker.Done(time.Minute) }, worker.DoneWithBackoff, time.Minute, worker.Counts{Success: 1, Backoff: 1}, ""},
		{"retry", func() error { return worker.Retry(errBroken, time.Minute) }, worker.QueuedWithBackoff, time.Minute, worker.Counts{Retry: 1, Backoff: 1}, ""},
		{
			"a wrapped retry", func() error { return fmt.Errorf("oh: %w", worker.Retry(nil, time.Minute)) },
			worker.QueuedWithBackoff, time.Minute, worker.Counts{Retry: 1, Backoff: 1}, "",
		},
		{"error", func() error { return errBroken }, worker.None, 0, worker.Counts{Error: 1}, "connection broken"},
		{"panic", func() error { panic("oh no") }, worker.None, 0, worker.Counts{Error: 1, Panic: 1}, "worker_test.go"},
		{"panic with an error", func() error { panic(errBroken) }, worker.None, 0, worker.Counts{Error: 1, Panic: 1}, "panic: connection broken"},
		{"the end of the goroutine", func() error { runtime.Goexit(); return nil }, worker.None, 0, worker.Counts{Error: 1}, "Goexit"},
		{"a long text", func() error { return errors.New(strings.Repeat("ä", 10_000)) }, worker.None, 0, worker.Counts{Error: 1}, strings.Repeat("ä", 4096)},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				jobs := newBroken()
				w := start(t, jobs, func(context.Context, worker.Message[string]) error { return c.handler() }, worker.Options{})
				enqueue(t, jobs, "m", `"body"`)
				synctest.Wait()
				if s := state(t, jobs, "m", c.state); s.Backoff != c.backoff {
					t.Errorf("backoff %v, want %v", s.Backoff, c.backoff)
				}
				if got := w.Status().Counts; got != c.counts {
					t.Errorf("counts %+v, want %+v", got, c.counts)
				}
				if got := w.Status().Handling; got != 0 {
					t.Errorf("%d are still handled", got)
				}
				text := strings.Join(jobs.calls, "\n")
				if strings.Contains(text, "fail ") != (c.failed != "") || !strings.Contains(text, c.failed) || len(text) > 9000 {
					t.Errorf("failed with %q, want %q in it", text, c.failed)
				}
			})
		})
	}
}

// TestMessage checks the fields of the message that a handler gets.
func TestMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type mail struct{ To string }
		jobs := workertest.NewMemory()
		q := worker.Queue[mail]{Jobs: jobs, Name: "q"}
		enqueued := time.Now()
		o := worker.EnqueueOptions{MID: "m", Lock: 2 * time.Hour, Headers: map[string]string{"k": "v"}}
		if _, err := q.Enqueue(t.Context(), mail{"ann"}, o); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		begun := time.Now()
		start(t, jobs, func(ctx context.Context, m worker.Message[mail]) error {
			deadline, _ := ctx.Deadline()
			if m.Queue != "q" || m.MID != "m" || m.Payload.To != "ann" || m.Lock != 2*time.Hour || !m.Enqueued.Equal(enqueued) ||
				m.Headers["k"] != "v" || string(m.Body) != `{"To":"ann"}` {
				t.Errorf("%+v", m)
			}
			if want := []time.Duration{time.Minute, 2 * time.Minute}[m.Attempt-1]; m.Age != want {
				t.Errorf("attempt %d: age %v, want %v", m.Attempt, m.Age, want)
			}
			if want := begun.Add(2*time.Hour + time.Duration(m.Attempt-1)*time.Minute); !deadline.Equal(want) {
				t.Errorf("attempt %d: deadline %v, want %v", m.Attempt, deadline, want)
			}
			if m.Attempt == 1 {
				return worker.Retry(nil, time.Minute)
			}
			return nil
		}, worker.Options{})
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		state(t, jobs, "m", worker.None)
	})
}

type reversed struct{}

func (reversed) Marshal(v any) ([]byte, error) {
	b := []byte(v.(string))
	slices.Reverse(b)
	return b, nil
}

func (reversed) Unmarshal(body []byte, v any) error {
	b := slices.Clone(body)
	slices.Reverse(b)
	*v.(*string) = string(b)
	return nil
}

// TestPayloads checks that JSON is the default codec, that bytes are passed unchanged, and that a
// body that cannot be decoded fails its job.
func TestPayloads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := workertest.NewMemory()
		if _, err := (worker.Queue[string]{jobs, "q", reversed{}}).Enqueue(t.Context(), "abc", worker.EnqueueOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := (worker.Queue[[]byte]{Jobs: jobs, Name: "q"}).Enqueue(t.Context(), []byte("raw"), worker.EnqueueOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := (worker.Queue[chan int]{Jobs: jobs, Name: "q"}).Enqueue(t.Context(), nil, worker.EnqueueOptions{}); err == nil {
			t.Error("a channel was enqueued as JSON")
		}
		var got []string
		w := start(t, jobs, func(_ context.Context, m worker.Message[[]byte]) error {
			got = append(got, string(m.Payload))
			return nil
		}, worker.Options{})
		synctest.Wait()
		w.Stop(t.Context())
		enqueue(t, jobs, "m", "cba")
		w = start(t, jobs, func(_ context.Context, m worker.Message[string]) error {
			got = append(got, m.Payload)
			return nil
		}, worker.Options{Codec: reversed{}})
		synctest.Wait()
		w.Stop(t.Context())
		if want := []string{"cba", "raw", "abc"}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		enqueue(t, jobs, "m", "{")
		w = start(t, jobs, func(context.Context, worker.Message[int]) error { return nil }, worker.Options{})
		synctest.Wait()
		state(t, jobs, "m", worker.None)
		if c := w.Status().Counts; c.Error != 1 || c.Success != 0 {
			t.Errorf("a body that is no JSON: %+v", c)
		}
	})
}

// TestHandlersAtOnce checks that as many jobs run concurrently as there are handlers, whatever the
// number of pollers.
func TestHandlersAtOnce(t *testing.T) {
	for _, pollers := range []int{1, 2, 3, 4} {
		synctest.Test(t, func(t *testing.T) {
			jobs := newBroken()
			for i := range 20 {
				enqueue(t, jobs, fmt.Sprint(i), "")
			}
			begun := time.Now()
			var now, most, done atomic.Int64
			start(t, jobs, func(context.Context, worker.Message[[]byte]) error {
				most.Store(max(most.Load(), now.Add(1)))
				time.Sleep(time.Second)
				now.Add(-1)
				if done.Add(1) == 20 && time.Since(begun) != 5*time.Second {
					t.Errorf("%d pollers: 20 jobs of a second took 4 handlers %v", pollers, time.Since(begun))
				}
				return nil
			}, worker.Options{Handlers: 4, Pollers: pollers})
			time.Sleep(time.Minute)
			synctest.Wait()
			if most.Load() != 4 || done.Load() != 20 {
				t.Errorf("%d pollers: %d at once, %d done; want 4 and 20", pollers, most.Load(), done.Load())
			}
			for _, o := range jobs.takes {
				if o.Count > (4+pollers-1)/pollers {
					t.Errorf("%d pollers: one asked for %d jobs", pollers, o.Count)
				}
			}
		})
	}
}

// TestOneHandlerKeepsOrder checks that by default jobs are handled one by one, in the order of the
// queue.
func TestOneHandlerKeepsOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := workertest.NewMemory()
		var got []string
		start(t, jobs, func(_ context.Context, m worker.Message[[]byte]) error {
			time.Sleep(time.Second)
			got = append(got, m.MID)
			return nil
		}, worker.Options{})
		for _, mid := range []string{"a", "b", "c", "d"} {
			enqueue(t, jobs, mid, "")
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if want := []string{"a", "b", "c", "d"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

// TestWokenAtOnce checks that a worker that waits on an empty queue handles a new job at once,
// however long it would have waited.
func TestWokenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := workertest.NewMemory()
		var at time.Time
		start(t, jobs, func(context.Context, worker.Message[[]byte]) error { at = time.Now(); return nil }, worker.Options{Backoff: worker.Always(time.Hour)})
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		enqueued := time.Now()
		enqueue(t, jobs, "m", "")
		synctest.Wait()
		if !at.Equal(enqueued) {
			t.Errorf("handled at %v, enqueued at %v", at, enqueued)
		}
	})
}

func TestOptionsOutOfRange(t *testing.T) {
	handler := func(context.Context, worker.Message[[]byte]) error { return nil }
	jobs := workertest.NewMemory()
	for name, o := range map[string]worker.Options{
		"Handlers": {Handlers: -1},
		"Pollers":  {Handlers: 2, Pollers: 3},
		"Lock":     {Lock: time.Millisecond},
	} {
		if _, err := worker.New(jobs, "q", handler, o); !errors.Is(err, worker.ErrInvalid) || !strings.Contains(err.Error(), name) {
			t.Errorf("%+v: %v; want ErrInvalid that names %s", o, err, name)
		}
	}
	for _, f := range []func() (*worker.Worker, error){
		func() (*worker.Worker, error) { return worker.New(nil, "q", handler, worker.Options{}) },
		func() (*worker.Worker, error) { return worker.New(jobs, "", handler, worker.Options{}) },
		func() (*worker.Worker, error) { return worker.New[int](jobs, "q", nil, worker.Options{}) },
	} {
		if _, err := f(); !errors.Is(err, worker.ErrInvalid) {
			t.Errorf("%v, want ErrInvalid", err)
		}
	}
}
