package worker_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/worker"
	"fiveways.dev/fiveways/worker/workertest"
)

// slow returns a handler that takes a second and counts its calls.
func slow(done *atomic.Int64) worker.Handler[[]byte] {
	return func(context.Context, worker.Message[[]byte]) error {
		<-time.After(time.Second)
		done.Add(1)
		return nil
	}
}

// TestStopWaits checks that Stop waits for running handlers and their reports, and that other jobs
// stay in the queue.
func TestStopWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := workertest.NewMemory()
		var done atomic.Int64
		w := start(t, jobs, slow(&done), worker.Options{Handlers: 2})
		for _, mid := range []string{"a", "b", "c"} {
			enqueue(t, jobs, mid, "")
		}
		synctest.Wait()
		begun := time.Now()
		var second error
		go func() { second = w.Stop(t.Context()) }()
		if err := w.Stop(t.Context()); err != nil || time.Since(begun) != time.Second {
			t.Errorf("Stop: %v after %v, want after a second", err, time.Since(begun))
		}
		synctest.Wait()
		if second != nil {
			t.Errorf("the other Stop: %v", second)
		}
		if n := done.Load(); n != 2 {
			t.Errorf("%d were handled, want 2", n)
		}
		state(t, jobs, "a", worker.DoneAwaitingGC)
		state(t, jobs, "c", worker.Queued)
		time.Sleep(time.Hour)
		synctest.Wait()
		state(t, jobs, "c", worker.Queued)
		if w.Status().Running {
			t.Error("it says that it runs")
		}
		w.Start()
		w.Start()
		time.Sleep(time.Minute)
		synctest.Wait()
		if !w.Status().Running || done.Load() != 3 {
			t.Errorf("started again: %d were handled", done.Load())
		}
	})
}

// TestStopGivesUp checks that handlers are canceled when Stop gives up, and that an interrupted job
// is ready again.
func TestStopGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := workertest.NewMemory()
		w := start(t, jobs, func(ctx context.Context, m worker.Message[[]byte]) error {
			if m.MID == "deaf" {
				time.Sleep(time.Minute)
				return nil
			}
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), worker.ErrStopped) {
				t.Errorf("the cause is %v", context.Cause(ctx))
			}
			return ctx.Err()
		}, worker.Options{Handlers: 2})
		enqueue(t, jobs, "deaf", "")
		enqueue(t, jobs, "hears", "")
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun := time.Now()
		if err := w.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != 2*time.Second {
			t.Errorf("Stop: %v after %v, want DeadlineExceeded after two seconds", err, time.Since(begun))
		}
		state(t, jobs, "hears", worker.Queued)
		state(t, jobs, "deaf", worker.Locked)
		if c := w.Status().Counts; c.Retry != 1 || c.Error != 0 {
			t.Errorf("%+v, want one retry", c)
		}
		time.Sleep(2 * time.Minute) // the handler that ignores its context ends
	})
}

func TestStopBeforeStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := workertest.NewMemory()
		var done atomic.Int64
		w, err := worker.New(jobs, "q", slow(&done), worker.Options{})
		must(t, err)
		enqueue(t, jobs, "a", "")
		time.Sleep(time.Minute)
		synctest.Wait()
		if err := w.Stop(t.Context()); err != nil || done.Load() != 0 || w.Status().Running {
			t.Errorf("%v, %d were handled by a worker that was not started", err, done.Load())
		}
	})
}

func TestAutoStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := workertest.NewMemory()
		var done atomic.Int64
		w, err := worker.New(jobs, "q", slow(&done), worker.Options{AutoStart: true})
		must(t, err)
		enqueue(t, jobs, "a", "")
		time.Sleep(time.Minute)
		synctest.Wait()
		if err := w.Stop(t.Context()); err != nil || done.Load() != 1 {
			t.Errorf("%v, %d were handled", err, done.Load())
		}
	})
}

// TestRun checks that Run ends with its context, after the grace period.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := workertest.NewMemory()
		var done atomic.Int64
		w, err := worker.New(jobs, "q", slow(&done), worker.Options{})
		must(t, err)
		enqueue(t, jobs, "a", "")
		enqueue(t, jobs, "b", "")
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		begun := time.Now()
		if err := w.Run(ctx, time.Minute); err != nil || done.Load() != 2 || time.Since(begun) != 2*time.Second {
			t.Errorf("%v after %v, %d were handled; want 2 after two seconds", err, time.Since(begun), done.Load())
		}
	})
}

// TestBrokerIsClosed checks that a worker ends if its broker is closed.
func TestBrokerIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := workertest.NewMemory()
		var done atomic.Int64
		l := &log{}
		w := start(t, jobs, slow(&done), worker.Options{Handlers: 2, Log: l.logger()})
		enqueue(t, jobs, "a", "")
		synctest.Wait()
		jobs.Close()
		time.Sleep(time.Hour)
		synctest.Wait()
		if s := w.Status(); s.Running || s.Counts.Unreported != 1 || l.count("worker stopped") != 1 {
			t.Errorf("%+v; want it to have ended, one job unreported", s)
		}
		if err := w.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestStopTellsThatItGaveUp checks that Stop returns an error also if the canceled handlers return
// and report in time, but not if there was nothing to give up.
func TestStopTellsThatItGaveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := workertest.NewMemory()
		w := start(t, jobs, func(ctx context.Context, _ worker.Message[[]byte]) error {
			<-ctx.Done()
			return ctx.Err()
		}, worker.Options{})
		enqueue(t, jobs, "hears", "")
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := w.Stop(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("Stop: %v, want the error of its context", err)
		}
		state(t, jobs, "hears", worker.Queued)
		for range 50 { // select chooses randomly between two ready cases
			if err := w.Stop(ctx); err != nil {
				t.Fatalf("Stop of a worker that is stopped: %v", err)
			}
		}
	})
}
