package semaphoretest

import (
	"context"
	"time"

	"fiveways.dev/fiveways/semaphore"
)

// acquired is the result of an acquire.
type acquired struct {
	held context.Context
	err  error
}

// inLine starts an acquire and returns when the task is enqueued.
func (b *bench) inLine(s *semaphore.Semaphore, task string, priority float64) <-chan acquired {
	b.Helper()
	return b.inLineUntil(b.ctx, s, task, priority)
}

func (b *bench) inLineUntil(ctx context.Context, s *semaphore.Semaphore, task string, priority float64) <-chan acquired {
	b.Helper()
	watching, stop := context.WithCancel(b.ctx)
	defer stop()
	events, err := s.Watch(watching, semaphore.WatchOptions{Task: task, All: true})
	if err != nil {
		b.Fatal(err)
	}
	ends := make(chan acquired, 1)
	go func() {
		held, err := s.Acquire(ctx, task, priority)
		ends <- acquired{held, err}
	}()
	if e := <-events; e.Kind != semaphore.EventEnqueued || e.Task != task || e.Key != s.Key() {
		b.Fatalf("%+v, want that %s is enqueued", e, task)
	}
	return ends
}

// got returns the context of an acquire that must succeed.
func (b *bench) got(ends <-chan acquired) context.Context {
	b.Helper()
	a := <-ends
	if a.err != nil {
		b.Fatal(a.err)
	}
	if a.held.Err() != nil {
		b.Errorf("it ended at once: %v", context.Cause(a.held))
	}
	return a.held
}

// ends waits for the end of a context and checks its cause.
func (b *bench) ends(held context.Context, want error) {
	b.Helper()
	select {
	case <-held.Done():
		b.is(context.Cause(held), want)
	case <-b.ctx.Done():
		b.Errorf("the context goes on; it should have ended with %v", want)
	}
}

func (b *bench) acquire() {
	s := b.new("", semaphore.Settings{Active: new(1), TryRelease: new(0)})
	first, err := s.Acquire(b.ctx, "first", 1)
	if err != nil {
		b.Fatal(err)
	}
	low, high := b.inLine(s, "low", 1), b.inLine(s, "high", 2)
	b.stands(s, "high WAIT", "first ACQUIRED", "low WAIT")
	if first.Err() != nil {
		b.Errorf("the first has lost its place: %v", context.Cause(first))
	}
	b.release(s, "first")
	b.ends(first, semaphore.ErrReleased)
	held := b.got(high)
	b.stands(s, "high ACQUIRED", "low WAIT")
	other := b.s.Open(b.T) // any client may release
	defer other.Close()
	b.release(other.Semaphore(s.Key()), "high")
	b.ends(held, semaphore.ErrReleased)
	b.got(low)
	if held, err := b.m.Acquire(b.ctx, s.Key(), "low", 1); err != nil || held.Err() != nil { // it runs
		b.Errorf("%v, %v", held, err)
	}
}

func (b *bench) asked() {
	s := b.new("", semaphore.Settings{Active: new(1), TryRelease: new(1)})
	low := b.got(b.inLine(s, "low", 1))
	high := b.inLine(s, "high", 2)
	b.ends(low, semaphore.ErrTryRelease)
	b.stands(s, "high WAIT", "low TRY_RELEASE")
	again, err := s.Acquire(b.ctx, "low", 1) // it runs and has been asked
	if err != nil {
		b.Fatal(err)
	}
	b.ends(again, semaphore.ErrTryRelease)
	b.release(s, "low")
	b.got(high)
}

func (b *bench) lost() {
	s := b.new("", semaphore.Settings{Active: new(1), TryRelease: new(0)})
	held := b.got(b.inLine(s, "holds", 2))
	waits := b.inLine(s, "waits", 1)
	b.release(s, "waits")
	b.is((<-waits).err, semaphore.ErrReleased)
	if _, err := b.m.Delete(b.ctx, s.Key()); err != nil {
		b.Fatal(err)
	}
	b.ends(held, semaphore.ErrDeleted)
}

func (b *bench) giveUp() {
	s := b.new("", semaphore.Settings{Active: new(1), TryRelease: new(0)})
	held := b.got(b.inLine(s, "holds", 2))
	ctx, cancel := context.WithCancelCause(b.ctx)
	waits := b.inLineUntil(ctx, s, "waits", 1)
	cancel(context.DeadlineExceeded)
	b.is((<-waits).err, context.DeadlineExceeded)
	b.stands(s, "holds ACQUIRED")
	_, err := s.Acquire(ctx, "late", 1)
	b.is(err, context.Canceled)
	b.stands(s, "holds ACQUIRED")
	if held.Err() != nil {
		b.Error(context.Cause(held))
	}
}

// lease checks that a task that is not renewed is removed.
func (b *bench) lease() {
	s := b.new("", semaphore.Settings{Active: new(1), Lease: new(time.Hour)})
	if _, err := s.EnqueueAll(b.ctx, semaphore.Entry{Task: "silent", Priority: 2, Lease: 100 * time.Millisecond}); err != nil {
		b.Fatal(err)
	}
	held := b.got(b.inLine(s, "next", 1))
	got, err := s.Status(b.ctx, "next")
	if err != nil || got.Lease != 0 || got.Left <= 0 || got.Left > time.Hour || held.Err() != nil {
		b.Errorf("%+v, %v", got, err)
	}
	b.stands(s, "next ACQUIRED")
}

// renewal checks that a task started with Acquire is renewed until it is released.
func (b *bench) renewal() {
	const lease = 300 * time.Millisecond
	s := b.new("", semaphore.Settings{Active: new(2), Lease: new(lease)})
	held := b.got(b.inLine(s, "held", 2))
	other := b.new("other", semaphore.Settings{Active: new(1)})
	if _, err := other.EnqueueAll(b.ctx, semaphore.Entry{Task: "clock", Lease: 5 * lease}); err != nil {
		b.Fatal(err)
	}
	clock := b.inLine(other, "alarm", -1)
	b.got(clock) // five leases have passed
	if held.Err() != nil {
		b.Errorf("it has lost its place: %v", context.Cause(held))
	}
	b.stands(s, "held ACQUIRED")
	b.release(s, "held")
	b.ends(held, semaphore.ErrReleased)

	ctx, cancel := context.WithCancel(b.ctx)
	b.got(b.inLineUntil(ctx, s, "left", 2)) // will be neither released nor renewed
	events, err := s.Watch(b.ctx, semaphore.WatchOptions{Task: "left"})
	if err != nil {
		b.Fatal(err)
	}
	cancel()
	if e := <-events; e.Kind != semaphore.EventExpired || e.Task != "left" || e.Status != semaphore.None {
		b.Errorf("%+v, want that it expired", e)
	}
}

// kinds returns the next n events of a watch.
func (b *bench) kinds(events <-chan semaphore.Event, n int) (all []string, seqs []uint64) {
	b.Helper()
	for range n {
		select {
		case e, ok := <-events:
			if !ok {
				b.Fatal("the watch has ended")
			}
			all = append(all, e.Task+" "+string(e.Kind)+" "+string(e.Status))
			seqs = append(seqs, e.Seq)
		case <-b.ctx.Done():
			b.Fatalf("no more events than %q", all)
		}
	}
	return all, seqs
}
