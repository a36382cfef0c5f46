package worker_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/worker"
)

func nothing(context.Context, worker.Message[[]byte]) error { return nil }

// TestEndOfQueue checks how long polls wait on an empty queue, and that a job resets the backoff.
func TestEndOfQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newBroken()
		var asked []int
		var polls []int
		start(t, jobs, nothing, worker.Options{
			Backoff: func(dryRuns int) time.Duration {
				asked = append(asked, dryRuns)
				return time.Duration(dryRuns) * time.Second
			},
			Monitor: func(p worker.Poll) { polls = append(polls, p.DryRuns) },
		})
		time.Sleep(26 * time.Second) // 1+2+3+4+5+5+5, and one second of the next wait
		synctest.Wait()
		enqueue(t, jobs, "m", "")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if want := []int{1, 2, 3, 4, 5, 5, 5, 5, 1, 2}; !slices.Equal(asked, want) {
			t.Errorf("the backoff was asked for %v, want %v", asked, want)
		}
		if want := []int{1, 2, 3, 4, 5, 6, 7, 0, 1}; !slices.Equal(polls, want) {
			t.Errorf("the monitor heard of dry runs %v, want %v", polls, want)
		}
		for i, o := range jobs.takes {
			if want := time.Duration(asked[i]) * time.Second; o.Wait != want || !slices.Equal(o.Queues, []string{"q"}) || o.Lock != worker.DefaultLock {
				t.Errorf("poll %d: %+v, want a wait of %v", i, o, want)
			}
		}
	})
}

// TestDefaultBackoffGrows checks that the default backoff grows from about a second to at most 16,
// and that no backoff causes a busy loop.
func TestDefaultBackoffGrows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newBroken()
		w := start(t, jobs, nothing, worker.Options{})
		time.Sleep(time.Hour)
		synctest.Wait()
		w.Stop(t.Context())
		for i, o := range jobs.takes {
			n := min(i, 4)
			if least := 500 * time.Millisecond << n; o.Wait < least || o.Wait > 2*least {
				t.Errorf("poll %d waited %v, want %v to %v", i, o.Wait, least, 2*least)
			}
		}
		if len(jobs.takes) < 200 {
			t.Errorf("%d polls in an hour", len(jobs.takes))
		}
		jobs = newBroken()
		w = start(t, jobs, nothing, worker.Options{Backoff: worker.Always(0)})
		time.Sleep(time.Second)
		synctest.Wait()
		w.Stop(t.Context())
		if n := len(jobs.takes); n > 1001 {
			t.Errorf("%d polls in a second with a backoff of 0", n)
		}
	})
}

// TestThrottle checks the pause after each poll, which depends on the size of the queue.
func TestThrottle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newBroken()
		for range 3 {
			jobs.Enqueue(t.Context(), "q", nil, worker.EnqueueOptions{})
		}
		var sizes []int
		start(t, jobs, nothing, worker.Options{Throttle: func(size int) time.Duration {
			sizes = append(sizes, size)
			return 700 * time.Millisecond
		}})
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if want := []time.Duration{0, 700 * time.Millisecond, 1400 * time.Millisecond}; !slices.Equal(jobs.times("take"), want) {
			t.Errorf("polls at %v, want %v", jobs.times("take"), want)
		}
		// After the first poll there are three jobs, one of them locked or done. The size is
		// requested again a second later.
		if len(sizes) != 3 || sizes[0] != 3 || sizes[1] != 3 || sizes[2] == 3 {
			t.Errorf("sizes %v", sizes)
		}
	})
	for size, want := range map[int]time.Duration{0: 200, 128: 200, 129: 100, 256: 100, 257: 50} {
		if got := worker.SlowPolls(size); got != want*time.Millisecond {
			t.Errorf("SlowPolls(%d) = %v", size, got)
		}
	}
}

// TestUnreachable checks that polls of an unreachable broker become less and less frequent, and
// that all is as before once it can be reached.
func TestUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		jobs := newBroken()
		jobs.set("take", 12)
		jobs.set("status", -1)
		l := &log{}
		var heard int
		w := start(t, jobs, nothing, worker.Options{Log: l.logger(), Monitor: func(p worker.Poll) {
			if errors.Is(p.Err, errBroken) {
				heard++
			}
		}})
		enqueue(t, jobs, "m", "")
		time.Sleep(20 * time.Minute)
		synctest.Wait()
		times := jobs.times("take")
		for i := 1; i <= 12; i++ {
			least := min(500*time.Millisecond<<(i-1), time.Minute)
			if d := times[i] - times[i-1]; d < least || d > min(2*least, time.Minute) {
				t.Errorf("poll %d came %v after the one before, want %v to %v", i, d, least, 2*least)
			}
		}
		state(t, jobs, "m", worker.None)
		if c := w.Status().Counts; c.Unreachable != 12 || c.Success != 1 || heard != 12 || l.count("cannot take jobs") != 12 {
			t.Errorf("%+v, %d were heard of", c, heard)
		}
		jobs.set("take", 1)
		before := len(jobs.times("take"))
		time.Sleep(time.Minute)
		synctest.Wait()
		if times := jobs.times("take")[before:]; len(times) < 2 || times[1]-times[0] > time.Second {
			t.Errorf("after it was there again: polls at %v", times)
		}
	})
}

// TestMonitorSize checks that the monitor warns for each queue, but not all the time.
func TestMonitorSize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &log{}
		monitor := worker.MonitorSize(10, time.Hour)
		poll := func(queue string, size int) {
			monitor(worker.Poll{Queue: queue, Size: size, Log: l.logger()})
		}
		poll("a", 10)
		if l.count("the queue is long") != 0 {
			t.Error("warned of 10")
		}
		poll("a", 11)
		poll("a", 12)
		poll("b", 11)
		if n := l.count("the queue is long"); n != 2 || l.count("size=11") != 2 || l.count("queue=b") != 1 {
			t.Errorf("%d warnings, want one of each queue", n)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		poll("a", 13)
		if l.count("size=13") != 1 {
			t.Error("no warning after an hour")
		}
	})
	synctest.Test(t, func(t *testing.T) {
		jobs := newBroken()
		for range 1001 {
			jobs.Enqueue(t.Context(), "q", nil, worker.EnqueueOptions{Backoff: time.Hour})
		}
		l := &log{}
		start(t, jobs, nothing, worker.Options{Log: l.logger()})
		time.Sleep(time.Minute)
		synctest.Wait()
		if l.count("the queue is long") != 1 {
			t.Error("the default monitor does not warn of 1,001 jobs, once")
		}
	})
}
