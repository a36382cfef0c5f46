package semaphore_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/semaphore"
	"fiveways.dev/fiveways/semaphore/semaphoretest"
)

// flaky is a backend that is temporarily unreachable and may lose events.
type flaky struct {
	*semaphoretest.Memory

	mu        sync.Mutex
	away      bool
	mute      bool
	missed    map[*func()]struct{} // called when events were missed
	following int
	looks     int
}

var errAway = errors.New("nobody answers")

func newFlaky() *flaky {
	return &flaky{Memory: semaphoretest.NewMemory(), missed: map[*func()]struct{}{}}
}

func (f *flaky) set(away, mute bool) {
	f.mu.Lock()
	f.away, f.mute = away, mute
	var all []*func()
	if !away && !mute {
		for m := range f.missed {
			all = append(all, m)
		}
	}
	f.mu.Unlock()
	for _, m := range all {
		(*m)()
	}
}

func (f *flaky) fails() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.away {
		return errAway
	}
	return nil
}

func (f *flaky) Renew(ctx context.Context, key string, tasks []string) ([]bool, error) {
	if err := f.fails(); err != nil {
		return nil, err
	}
	return f.Memory.Renew(ctx, key, tasks)
}

func (f *flaky) Look(ctx context.Context, key string, tasks []string) ([]semaphore.Task, error) {
	f.mu.Lock()
	f.looks++
	f.mu.Unlock()
	if err := f.fails(); err != nil {
		return nil, err
	}
	return f.Memory.Look(ctx, key, tasks)
}

func (f *flaky) Follow(ctx context.Context, key, task string, fn func(semaphore.Kind)) (func(), error) {
	missed := func() { fn(semaphore.EventMissed) }
	stop, err := f.Memory.Follow(ctx, key, task, func(k semaphore.Kind) {
		f.mu.Lock()
		mute := f.mute
		f.mu.Unlock()
		if !mute {
			fn(k)
		}
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	f.missed[&missed] = struct{}{}
	f.following++
	return func() {
		stop()
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.missed, &missed)
		f.following--
	}, err
}

// inBubble runs a test with a semaphore in a synctest bubble. At the end all goroutines of the
// manager must have ended.
func inBubble(t *testing.T, s semaphore.Settings, test func(t *testing.T, f *flaky, s *semaphore.Semaphore)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := newFlaky()
		m := semaphore.New(f)
		defer m.Close()
		test(t, f, crowd(t, m, s))
	})
}

// must returns a context that Acquire must have returned without an error.
func must(t *testing.T, held context.Context, err error) context.Context {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return held
}

func ends(t *testing.T, held context.Context, want error) {
	t.Helper()
	synctest.Wait()
	if cause := context.Cause(held); !errors.Is(cause, want) || cause == nil {
		t.Errorf("the context: %v, want %v", cause, want)
	}
}

func goesOn(t *testing.T, held context.Context) {
	t.Helper()
	synctest.Wait()
	if held.Err() != nil {
		t.Errorf("the context has ended: %v", context.Cause(held))
	}
}

// TestLeaseIsRenewed checks that a lease is renewed while the task is held, also after it was asked
// to give way, and no longer.
func TestLeaseIsRenewed(t *testing.T) {
	inBubble(t, semaphore.Settings{Active: new(1), Lease: new(time.Minute)}, func(t *testing.T, f *flaky, s *semaphore.Semaphore) {
		ctx, cancel := context.WithCancel(t.Context())
		held, err := s.Acquire(ctx, "a", 1)
		must(t, held, err)
		pass(time.Hour)
		goesOn(t, held)
		if _, err := s.Enqueue(t.Context(), "b", 2); err != nil {
			t.Fatal(err)
		}
		ends(t, held, semaphore.ErrTryRelease)
		pass(time.Hour)
		if got, err := s.Status(t.Context(), "a"); err != nil || got.Status != semaphore.TryRelease {
			t.Errorf("%+v, %v; it has its place until it is released", got, err)
		}
		cancel()
		synctest.Wait()
		if f.following != 0 {
			t.Errorf("%d tasks are followed that nobody holds", f.following)
		}
		pass(time.Minute)
		synctest.Wait()
		if got, err := s.Status(t.Context(), "a"); err != nil || got.Status != semaphore.None {
			t.Errorf("%+v, %v; nobody renews it any more", got, err)
		}
	})
}

// TestLeaseOfTheUnreachable checks that a holder that cannot renew its lease is told when the lease
// ends, and not earlier.
func TestLeaseOfTheUnreachable(t *testing.T) {
	inBubble(t, semaphore.Settings{Lease: new(time.Minute)}, func(t *testing.T, f *flaky, s *semaphore.Semaphore) {
		held, err := s.Acquire(t.Context(), "a", 1)
		must(t, held, err)
		synctest.Wait()
		pass(10 * time.Second)
		f.set(true, true)
		pass(45 * time.Second)
		goesOn(t, held)
		f.set(false, false)
		pass(10 * time.Second) // it is renewed
		f.set(true, true)
		pass(40 * time.Second)
		goesOn(t, held)
		pass(20 * time.Second)
		ends(t, held, semaphore.ErrExpired)
	})
}

// TestNothingIsMissed checks that after an EventMissed the changes are detected.
func TestNothingIsMissed(t *testing.T) {
	inBubble(t, semaphore.Settings{Active: new(1), TryRelease: new(1)}, func(t *testing.T, f *flaky, s *semaphore.Semaphore) {
		held, err := s.Acquire(t.Context(), "a", 1)
		must(t, held, err)
		synctest.Wait()
		waits := acquire(t.Context(), s, "b", 1)
		synctest.Wait()
		f.set(false, true)
		if _, err := f.Release(t.Context(), "crowd", []string{"a"}); err != nil {
			t.Fatal(err)
		}
		goesOn(t, held)
		f.set(false, false)
		ends(t, held, semaphore.ErrReleased)
		next := <-waits
		must(t, next.held, next.err)
	})
}

// TestLooksAreSeldom checks that a broker that does not answer is retried with increasing delays.
func TestLooksAreSeldom(t *testing.T) {
	inBubble(t, semaphore.Settings{Active: new(0)}, func(t *testing.T, f *flaky, s *semaphore.Semaphore) {
		f.set(true, false)
		waits := acquire(t.Context(), s, "a", 1)
		pass(time.Hour)
		synctest.Wait()
		if f.looks < 1000 || f.looks > 3600 {
			t.Errorf("it was asked %d times in an hour", f.looks)
		}
		f.set(false, false)
		if err := s.Update(t.Context(), semaphore.Settings{Active: new(1)}); err != nil {
			t.Fatal(err)
		}
		got := <-waits
		must(t, got.held, got.err)
	})
}

// TestReplaced checks that a task that other clients released and enqueued again ends the hold.
func TestReplaced(t *testing.T) {
	inBubble(t, semaphore.Settings{Active: new(1), TryRelease: new(0)}, func(t *testing.T, f *flaky, s *semaphore.Semaphore) {
		held, err := s.Acquire(t.Context(), "a", 1)
		must(t, held, err)
		synctest.Wait()
		if _, err := s.Enqueue(t.Context(), "b", 1); err != nil {
			t.Fatal(err)
		}
		f.set(false, true)
		if _, err := f.Release(t.Context(), "crowd", []string{"a"}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Enqueue(t.Context(), "a", 9); err != nil {
			t.Fatal(err)
		}
		f.set(false, false)
		ends(t, held, semaphore.ErrReleased)
	})
}

// TestSlowReceiver checks that a receiver that does not read misses events, gets an EventMissed,
// and delays no other receiver.
func TestSlowReceiver(t *testing.T) {
	inBubble(t, semaphore.Settings{Active: new(1 << 20)}, func(t *testing.T, f *flaky, s *semaphore.Semaphore) {
		events, err := s.Watch(t.Context(), semaphore.WatchOptions{})
		if err != nil {
			t.Fatal(err)
		}
		const n = 5000
		for i := range n {
			if _, err := s.Enqueue(t.Context(), fmt.Sprint(i), 1); err != nil {
				t.Fatal(err)
			}
		}
		got := 0
		for e := range events {
			if e.Kind == semaphore.EventMissed {
				break
			}
			got++
		}
		if got == 0 || got >= n {
			t.Errorf("%d events before one that was missed", got)
		}
		for more := true; more; { // more events may follow
			synctest.Wait()
			select {
			case <-events:
			default:
				more = false
			}
		}
		if _, err := s.Enqueue(t.Context(), "last", 1); err != nil {
			t.Fatal(err)
		}
		if e := <-events; e.Task != "last" {
			t.Errorf("%+v, want the last", e)
		}
	})
}

// pass lets the time of the bubble pass.
func pass(d time.Duration) { <-time.After(d) }

// TestRenewedJustInTime checks that a lease is renewed if the broker is back shortly before its
// end.
func TestRenewedJustInTime(t *testing.T) {
	inBubble(t, semaphore.Settings{Active: new(1), Lease: new(6 * time.Second)}, func(t *testing.T, f *flaky, s *semaphore.Semaphore) {
		held, err := s.Acquire(t.Context(), "holds", 1)
		must(t, held, err)
		synctest.Wait()
		f.set(true, false)
		pass(5300 * time.Millisecond) // after failures the reads are seconds apart
		f.set(false, false)
		pass(time.Minute)
		goesOn(t, held)
	})
}
