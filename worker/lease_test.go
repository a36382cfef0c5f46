package worker_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/worker"
)

// wait returns a handler that waits for d or for the end of its context, whose error it returns.
func wait(d time.Duration, cause *error) worker.Handler[[]byte] {
	return func(ctx context.Context, m worker.Message[[]byte]) error {
		if m.Attempt > 1 {
			return nil
		}
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return nil
		case <-ctx.Done():
			*cause = context.Cause(ctx)
			return ctx.Err()
		}
	}
}

// TestHeartbeat checks that the lock is extended while the handler runs, so that no other worker
// gets the job.
func TestHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newBroken()
		var cause error
		w := start(t, jobs, wait(10*time.Minute, &cause), worker.Options{Handlers: 2, Lock: time.Minute})
		enqueue(t, jobs, "m", "")
		time.Sleep(9 * time.Minute)
		synctest.Wait()
		if s := state(t, jobs, "m", worker.Locked); s.Attempts != 1 {
			t.Errorf("%d attempts", s.Attempts)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if c := w.Status().Counts; c.Success != 1 || c.Stale != 0 || cause != nil {
			t.Errorf("%+v, %v; want one success", c, cause)
		}
		beats := jobs.times("extend")
		if len(beats) != 29 && len(beats) != 30 || beats[0] != 20*time.Second || beats[1] != 40*time.Second {
			t.Errorf("extended at %v, want every 20 s for 10 minutes", beats)
		}
	})
}

// TestLeaseLost checks that a handler whose job was taken away learns of it at the next heartbeat,
// and that its error is ignored.
func TestLeaseLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newBroken()
		var cause error
		w := start(t, jobs, wait(time.Hour, &cause), worker.Options{Lock: time.Minute})
		enqueue(t, jobs, "m", "")
		synctest.Wait()
		must(t, jobs.Clear(t.Context(), "q"))
		begun := time.Now()
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if !errors.Is(cause, worker.ErrStale) || time.Since(begun) != 20*time.Second {
			t.Errorf("the cause is %v, want ErrStale", cause)
		}
		if c := w.Status().Counts; c.Error != 0 || c.Retry != 1 || c.Stale != 1 {
			t.Errorf("%+v, want one stale report", c)
		}
	})
}

// TestHeartbeatThroughTrouble checks that an outage of the broker is harmless if it is shorter than
// the rest of the lock, and that a longer one ends the lease.
func TestHeartbeatThroughTrouble(t *testing.T) {
	for _, c := range []struct {
		fails int
		lost  bool
	}{{5, false}, {-1, true}} {
		synctest.Test(t, func(t *testing.T) {
			jobs := newBroken()
			jobs.set("extend", c.fails)
			var cause error
			w := start(t, jobs, wait(5*time.Minute, &cause), worker.Options{Lock: time.Minute})
			enqueue(t, jobs, "m", "")
			time.Sleep(time.Minute)
			synctest.Wait()
			if lost := errors.Is(cause, worker.ErrStale) && errors.Is(cause, errBroken); lost != c.lost {
				t.Errorf("%d fail: the cause is %v; lost should be %v", c.fails, cause, c.lost)
			}
			time.Sleep(5 * time.Minute)
			synctest.Wait()
			if s := w.Status().Counts; s.Success != 1 {
				t.Errorf("%d fail: %+v, want one success in the end", c.fails, s)
			}
		})
	}
}

// TestTimeout checks that the context ends in time, that the handler's error counts, and that the
// lock is not extended for a handler that ignores its context.
func TestTimeout(t *testing.T) {
	for _, c := range []struct {
		name          string
		timeout, lock time.Duration
		ends          time.Duration // 0: not within a day
	}{
		{"an hour by default", 0, time.Minute, time.Hour},
		{"longer when the lock is", 0, 3 * time.Hour, 3 * time.Hour},
		{"as said", 5 * time.Minute, time.Minute, 5 * time.Minute},
		{"shorter than the lock", time.Minute, time.Hour, time.Minute},
		{"none", -1, time.Minute, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				jobs := newBroken()
				var ended time.Time
				begun := time.Now()
				w := start(t, jobs, func(ctx context.Context, m worker.Message[[]byte]) error {
					select {
					case <-ctx.Done():
						ended = time.Now()
						return ctx.Err()
					case <-time.After(24 * time.Hour):
						return nil
					}
				}, worker.Options{Lock: c.lock, Timeout: c.timeout})
				enqueue(t, jobs, "m", "")
				time.Sleep(25 * time.Hour)
				synctest.Wait()
				counts := w.Status().Counts
				if c.ends == 0 {
					if !ended.IsZero() || counts.Success != 1 {
						t.Errorf("ended after %v, %+v", ended.Sub(begun), counts)
					}
					return
				}
				if ended.Sub(begun) != c.ends || counts.Error != 1 || counts.Stale != 0 || counts.Unreported != 0 {
					t.Errorf("ended after %v, %+v; want an error after %v", ended.Sub(begun), counts, c.ends)
				}
			})
		})
	}
	t.Run("one that does not listen", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			jobs := newBroken()
			var mu sync.Mutex
			var attempts []time.Duration
			begun := time.Now()
			w := start(t, jobs, func(_ context.Context, m worker.Message[[]byte]) error {
				mu.Lock()
				attempts = append(attempts, time.Since(begun))
				mu.Unlock()
				if m.Attempt == 1 {
					time.Sleep(time.Hour)
				}
				return nil
			}, worker.Options{Handlers: 2, Lock: time.Minute, Timeout: 290 * time.Second})
			enqueue(t, jobs, "m", "")
			time.Sleep(2 * time.Hour)
			synctest.Wait()
			if want := []time.Duration{0, 5*time.Minute + 40*time.Second}; !slices.Equal(attempts, want) {
				t.Errorf("attempts at %v, want %v", attempts, want)
			}
			if c := w.Status().Counts; c.Success != 2 || c.Unreported+c.Stale != 1 {
				t.Errorf("%+v, want two successes, one that came too late", c)
			}
		})
	})
}

// TestReportIsRepeated checks that a report is repeated until the broker has it or the lock is
// over.
func TestReportIsRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newBroken()
		jobs.set("done", 10)
		w := start(t, jobs, func(context.Context, worker.Message[[]byte]) error { return nil }, worker.Options{Lock: 2 * time.Minute})
		enqueue(t, jobs, "m", "")
		time.Sleep(time.Minute)
		synctest.Wait()
		state(t, jobs, "m", worker.None)
		if c := w.Status().Counts; c.Success != 1 || c.Unreported != 0 {
			t.Errorf("%+v", c)
		}
		if tries := jobs.times("done"); len(tries) != 11 || tries[10] < 10*time.Second {
			t.Errorf("reported at %v; want eleven tries, further and further apart", tries)
		}
		jobs.set("done", -1)
		enqueue(t, jobs, "n", "")
		time.Sleep(time.Minute)
		synctest.Wait()
		jobs.set("done", 0)
		jobs.set("done", 0)
		time.Sleep(3 * time.Minute)
		synctest.Wait()
		state(t, jobs, "n", worker.None)
	})
}

// TestReportGivesUp checks that after the end of the lock another worker gets the job, and this
// worker continues.
func TestReportGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newBroken()
		jobs.set("done", -1)
		l := &log{}
		w := start(t, jobs, func(context.Context, worker.Message[[]byte]) error { return nil }, worker.Options{Lock: time.Minute, Log: l.logger()})
		enqueue(t, jobs, "m", "")
		time.Sleep(90 * time.Second)
		synctest.Wait()
		if c := w.Status().Counts; c.Success != 2 || c.Unreported != 1 || l.count("could not be reported") != 1 {
			t.Errorf("%+v, want two attempts, one unreported", c)
		}
		jobs.set("done", 0)
		time.Sleep(time.Minute)
		synctest.Wait()
		state(t, jobs, "m", worker.None)
	})
}

// TestReportJustInTime checks that a broker that recovers shortly before the end of the lock gets
// the report, and extensions.
func TestReportJustInTime(t *testing.T) {
	for range 20 { // the pauses are random
		synctest.Test(t, func(t *testing.T) {
			jobs := newBroken()
			var cause error
			w := start(t, jobs, wait(0, &cause), worker.Options{Lock: 3 * time.Second})
			jobs.set("done", -1)
			enqueue(t, jobs, "m", "")
			time.Sleep(2500 * time.Millisecond)
			jobs.set("done", 0)
			time.Sleep(time.Minute)
			synctest.Wait()
			if c := w.Status().Counts; c.Success != 1 || c.Unreported != 0 {
				t.Errorf("%+v after %v; want one success that is reported", c, jobs.times("done"))
			}
			state(t, jobs, "m", worker.None)
		})
		synctest.Test(t, func(t *testing.T) {
			jobs := newBroken()
			var cause error
			w := start(t, jobs, wait(10*time.Second, &cause), worker.Options{Lock: 3 * time.Second})
			enqueue(t, jobs, "m", "")
			jobs.set("extend", -1)
			time.Sleep(2500 * time.Millisecond)
			jobs.set("extend", 0)
			time.Sleep(time.Minute)
			synctest.Wait()
			if c := w.Status().Counts; c.Success != 1 || c.Stale != 0 || cause != nil {
				t.Errorf("%+v, %v after %v; want one success", c, cause, jobs.times("extend"))
			}
		})
	}
}

// late is a broker whose answers to takes and extensions are late.
type late struct {
	*broken
	take, extend time.Duration
}

func (s *late) Take(ctx context.Context, o worker.TakeOptions) ([]worker.Job, error) {
	jobs, err := s.broken.Take(ctx, o)
	if len(jobs) > 0 {
		<-time.After(s.take)
	}
	return jobs, err
}

func (s *late) Extend(ctx context.Context, l worker.Lease, lock time.Duration) error {
	err := s.broken.Extend(ctx, l, lock)
	select {
	case <-time.After(s.extend):
	case <-ctx.Done():
	}
	return err
}

// TestSlowAnswers checks that a lock counts from the request, not from the answer: that it is
// extended early enough, and that its end is noticed in time.
func TestSlowAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := &late{newBroken(), 0, 15 * time.Second}
		var cause error
		start(t, jobs, wait(10*time.Minute, &cause), worker.Options{Lock: time.Minute})
		enqueue(t, jobs, "m", "")
		<-time.After(70 * time.Second)
		want := []time.Duration{20 * time.Second, 40 * time.Second, time.Minute}
		if got := jobs.times("extend"); !slices.Equal(got, want) {
			t.Errorf("extended at %v, want %v", got, want)
		}
	})
	for _, c := range []struct {
		name         string
		answer       time.Duration
		first, ended time.Duration
	}{
		{"at once", 0, 20 * time.Second, time.Minute},
		{"late", 15 * time.Second, 20 * time.Second, time.Minute},
		{"very late", 30 * time.Second, 30 * time.Second, time.Minute},
		{"perhaps a long wait", 50 * time.Second, 50 * time.Second, 70 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				jobs := &late{newBroken(), c.answer, 0}
				jobs.set("extend", -1)
				ended := make(chan time.Duration, 1)
				start(t, jobs, func(ctx context.Context, _ worker.Message[[]byte]) error {
					<-ctx.Done()
					if errors.Is(context.Cause(ctx), worker.ErrStale) {
						select {
						case ended <- time.Since(jobs.begun):
						default: // a later attempt
						}
					}
					return ctx.Err()
				}, worker.Options{Lock: time.Minute})
				enqueue(t, jobs, "m", "")
				if got := <-ended; got != c.ended {
					t.Errorf("the end of the lock was noticed after %v, want %v", got, c.ended)
				}
				if got := jobs.times("extend")[0]; got != c.first {
					t.Errorf("first extended after %v, want %v", got, c.first)
				}
			})
		})
	}
}
