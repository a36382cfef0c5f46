package shardlog

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/shardstate"
	"fiveways.dev/fiveways/internal/storage/store"
)

// heldLog holds what is appended until the test releases it.
type heldLog struct {
	Log
	held []held
}

type held struct {
	entries []store.Entry // nil for a barrier
	done    func(error)
}

func (l *heldLog) Append(group []store.Entry, done func(error)) {
	l.held = append(l.held, held{slices.Clone(group), done})
}

func (l *heldLog) Barrier(_ []uint32, _ store.Wait, done func(error)) {
	l.held = append(l.held, held{nil, done})
}

// next completes the oldest held append.
func (l *heldLog) next(err error) {
	first := l.held[0]
	l.held = l.held[1:]
	for _, e := range first.entries {
		if err == nil && e.Written != nil {
			e.Written()
		}
	}
	first.done(err)
}

// told records the outcomes that the confirmer and the waiting functions received.
type told []string

func (t *told) Confirmed(from, to uint64, ok bool) {
	*t = append(*t, fmt.Sprintf("%d-%d %v", from, to, ok))
}

func (t *told) when(name string) func(error) {
	return func(err error) { *t = append(*t, fmt.Sprintf("%s %v", name, err)) }
}

func (t *told) want(at *testing.T, want ...string) {
	at.Helper()
	if !slices.Equal(*t, want) {
		at.Errorf("told %q, want %q", *t, want)
	}
	*t = nil
}

type noBodies struct{}

func (noBodies) Logged(uint64)  {}
func (noBodies) Scratch(uint64) {}

// writer is a Writer on a heldLog. Functions posted to the shard run at once.
type writer struct {
	*Writer
	log *heldLog
}

func newWriter() writer {
	log := &heldLog{}
	shared := &Shared{Log: log, Sync: store.SyncBatch, Relieve: func() {}}
	post := func(fn func()) bool { fn(); return true }
	return writer{NewWriter(shared, 1, shardstate.NewRecorder(noBodies{}), post), log}
}

// record adds a fact to the current entry.
func (w writer) record() { w.facts.Start() }

func TestPromisesAreKeptInTheOrderOfEntries(t *testing.T) {
	w, got := newWriter(), told{}
	w.record()
	for seq := range uint64(3) {
		w.Confirm(&got, seq+1, store.WaitSync)
	}
	w.WhenRecorded(got.when("first"))
	w.Propose()
	w.Confirm(&got, 4, store.WaitSync) // of a duplicate: the current entry is empty
	w.Propose()
	got.want(t)
	w.log.next(nil)
	got.want(t, "1-3 true", "first <nil>")
	w.log.next(nil)
	got.want(t, "4-4 true")
	if w.UpTo() != 1 || w.Index() != 2 {
		t.Errorf("durable up to %d, current entry %d; want 1 and 2", w.UpTo(), w.Index())
	}
}

func TestPromisesAreRefusedWhenTheLogFails(t *testing.T) {
	w, got := newWriter(), told{}
	broken := errors.New("no disk")
	w.record()
	w.Confirm(&got, 1, store.WaitSync)
	w.Confirm(&got, 2, store.WaitNot)
	w.WhenRecorded(got.when("waiter"))
	w.WhenDurable(w.Index(), got.when("reader"))
	w.Propose()
	w.log.next(broken)
	got.want(t, "1-1 false", "2-2 false", "waiter no disk", "reader "+failure.ErrLogFailed.Error())
}

func TestConfirmsThatNeedNoSyncLeaveOnceWritten(t *testing.T) {
	w, got := newWriter(), told{}
	w.record()
	w.Confirm(&got, 1, store.WaitNot)
	w.Propose()
	w.log.held[0].entries[0].Written()
	got.want(t, "1-1 true")
	w.log.next(nil)
	got.want(t)
}

func TestWhenDurableAsksForOneSync(t *testing.T) {
	w, got := newWriter(), told{}
	w.record()
	w.Propose() // without a promise: it is written, not synced
	w.log.next(nil)
	w.WhenDurable(1, got.when("a"))
	w.WhenDurable(1, got.when("b"))
	if len(w.log.held) != 1 {
		t.Fatalf("%d barriers for one entry", len(w.log.held))
	}
	got.want(t)
	w.log.next(nil)
	got.want(t, "a <nil>", "b <nil>")
	w.WhenDurable(1, got.when("c"))
	got.want(t, "c <nil>")
}

func TestSealAloneLeavesAnEmptyEntry(t *testing.T) {
	w, got := newWriter(), told{}
	w.WhenRecorded(got.when("waiter"))
	if _, done := w.SealAlone(); done != nil {
		t.Fatal("an empty entry was sealed")
	}
	w.record()
	e, done := w.SealAlone()
	if done == nil || e.Index != 1 || e.Wait != w.Sync.Wait() {
		t.Fatalf("sealed %+v", e)
	}
	done(nil)
	got.want(t, "waiter <nil>")
}
