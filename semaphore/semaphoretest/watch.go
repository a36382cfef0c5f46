package semaphoretest

import (
	"context"
	"slices"

	"fiveways.dev/fiveways/internal/core/glob"
	"fiveways.dev/fiveways/semaphore"
)

// happen causes all kinds of events of a semaphore. It returns the expected transitions, and all
// expected events.
func (b *bench) happen(s *semaphore.Semaphore) (transitions, all []string) {
	b.enqueue(s, 1)
	b.enqueue(s, 2)
	b.enqueue(s, 3)
	b.release(s, "3")
	b.release(s, "1", "2")
	if _, err := b.m.Delete(b.ctx, s.Key()); err != nil {
		b.Fatal(err)
	}
	all = []string{
		"1 Enqueued WAIT", "1 Acquired ACQUIRED", "2 Enqueued WAIT", "1 TryRelease TRY_RELEASE", "3 Enqueued WAIT", "3 Released ", "1 Released ", "2 Released ",
	}
	transitions = []string{"1 Acquired ACQUIRED", "1 TryRelease TRY_RELEASE"}
	return transitions, all
}

func (b *bench) watch() {
	s := b.new("", semaphore.Settings{Active: new(1)})
	other := b.new("[other]", semaphore.Settings{})
	ctx, stop := context.WithCancel(b.ctx)
	transitions, err := s.Watch(ctx, semaphore.WatchOptions{})
	if err != nil {
		b.Fatal(err)
	}
	all, err := b.m.Watch(ctx, semaphore.WatchOptions{Pattern: glob.Literal(b.prefix) + "*", All: true})
	if err != nil {
		b.Fatal(err)
	}
	wantTransitions, wantAll := b.happen(s)
	b.enqueue(other, 7)
	got, seqs := b.kinds(transitions, len(wantTransitions))
	if !slices.Equal(got, wantTransitions) || !slices.Equal(seqs, []uint64{1, 2}) {
		b.Errorf("told of %q, %v, want %q, from 1 on", got, seqs, wantTransitions)
	}
	wantAll = append(wantAll, "7 Enqueued WAIT", "7 Acquired ACQUIRED")
	if got, _ := b.kinds(all, len(wantAll)); !slices.Equal(got, wantAll) {
		b.Errorf("told of\n%q, want\n%q", got, wantAll)
	}
	stop()
	for range transitions { // until it is closed
	}
	for range all {
	}
}

func (b *bench) watchTask() {
	s := b.new("", semaphore.Settings{Active: new(1)})
	one, err := b.m.Watch(b.ctx, semaphore.WatchOptions{Pattern: glob.Literal(s.Key()), Task: "1", All: true})
	if err != nil {
		b.Fatal(err)
	}
	b.happen(s)
	want := []string{"1 Enqueued WAIT", "1 Acquired ACQUIRED", "1 TryRelease TRY_RELEASE", "1 Released "}
	if got, _ := b.kinds(one, len(want)); !slices.Equal(got, want) {
		b.Errorf("told of %q, want %q", got, want)
	}
}
