package shardlog

import (
	"fiveways.dev/fiveways/internal/core/histogram"
	"fiveways.dev/fiveways/internal/core/shardstate"
	"fiveways.dev/fiveways/internal/storage/store"
)

// Shared is the state shared by the writers of a broker.
type Shared struct {
	Log       Log
	Store     *store.Store // holds the bodies to release
	Sync      store.SyncMode
	Relieve   func()              // called when an entry has left memory
	Confirmed histogram.Histogram // ns until entries with confirms were durable

	proposals proposals
}

// Writer is the end of the log of one shard. Its methods are for the goroutine that runs the shard,
// except those that say otherwise.
type Writer struct {
	*Shared
	id     uint32
	on     [1]uint32                // the shard's number
	facts  *shardstate.Recorder     // gathers the current entry
	post   func(func()) (open bool) // runs a function at the shard
	entry  *proposal                // its promises
	index  uint64                   // of the current entry
	inline bool                     // the goroutine that runs the shard writes the log afterwards
	owes   bool                     // it has appended something to write
	durable

	total int64 // bytes in the log at the start, and since then
	since int64 // bytes since the last checkpoint
	tried int64 // since when that checkpoint began
}

// NewWriter returns the writer of a shard whose log is empty. post runs a function on the shard's
// goroutine, and does not wait for it.
func NewWriter(s *Shared, id uint32, facts *shardstate.Recorder, post func(func()) bool) *Writer {
	w := &Writer{Shared: s, id: id, on: [1]uint32{id}, facts: facts, post: post, index: 1}
	w.entry = newProposal(w)
	facts.Begin(w.index, nil)
	return w
}

// Replayed counts a fact of a durable entry, and makes the writer continue after it.
func (w *Writer) Replayed(index uint64, fact []byte) {
	w.count(len(fact))
	if index >= w.index {
		w.Recovered(index)
	}
}

// Recovered makes the writer continue after the last entry of the log.
func (w *Writer) Recovered(last uint64) {
	w.index = last + 1
	w.upTo.Store(last)
	w.facts.Begin(w.index, nil)
}

// Index returns the index of the current entry.
func (w *Writer) Index() uint64 { return w.index }

// LastRecorded returns the index of the newest entry that is not empty.
func (w *Writer) LastRecorded() uint64 {
	if !w.facts.Empty() {
		return w.index
	}
	return w.index - 1
}

// Size returns the size of the current entry in bytes.
func (w *Writer) Size() int { return w.facts.Len() }

// Full reports whether the current entry is as large as entries should be.
func (w *Writer) Full() bool { return w.facts.Len() >= EntryBytes }

// EntryBytes is the size at which an entry is proposed.
const EntryBytes = 1 << 20

// Confirm confirms a publish as soon as wait allows.
func (w *Writer) Confirm(to Confirmer, seq uint64, wait store.Wait) { w.entry.confirm(to, seq, wait) }

// WhenRecorded registers fn, which is called on the goroutine that writes the log when everything
// changed so far is durable, or with an error if it never will be. fn must not block.
func (w *Writer) WhenRecorded(fn func(error)) { w.entry.waiters = append(w.entry.waiters, fn) }

// Release releases a body of an entry once the current entry is durable.
func (w *Writer) Release(index uint64) { w.entry.release(index) }

// MustSync makes the log sync the current entry, even if nothing waits for it.
func (w *Writer) MustSync() { w.entry.wait = max(w.entry.wait, w.Sync.Wait()) }

// WriteInline sets whether the goroutine that runs the shard from now on writes the log afterwards,
// with Log.Commit.
func (w *Writer) WriteInline(writes bool) { w.inline = writes }

// EndInline undoes WriteInline, and reports whether there is something to write.
func (w *Writer) EndInline() (owes bool) {
	owes = w.owes
	w.inline, w.owes = false, false
	return owes
}

// Propose hands the current entry to the log and begins the next one.
func (w *Writer) Propose() {
	p := w.entry
	if w.facts.Empty() {
		if p.promises() {
			w.keepPromises()
		}
		return
	}
	e := w.Seal()
	p.group = append(p.group[:0], e)
	w.Append(p.group, p.finished)
}

// keepPromises is Propose for an entry without facts: its promises are about earlier entries, such
// as the original of a duplicate.
func (w *Writer) keepPromises() {
	p := w.entry
	w.begin()
	w.Log.Barrier(w.on[:], p.waits(), p.finished)
}

// Append appends sealed entries to the log.
func (w *Writer) Append(group []store.Entry, done func(error)) {
	if w.inline {
		w.owes = true
		w.Log.AppendInline(group, done)
	} else {
		w.Log.Append(group, done)
	}
}

// Seal completes the current entry, which the caller appends to the log, and begins the next one.
func (w *Writer) Seal() store.Entry {
	p := w.entry
	p.data, p.refs = w.facts.Seal()
	p.wait = p.waits()
	e := store.Entry{Shard: w.id, Index: w.index, Data: p.data, Refs: p.refs, Wait: p.wait}
	if len(p.early) > 0 {
		e.Written = p.written
	}
	p.index = w.index
	if p.wait >= w.Sync.Wait() {
		w.asked = w.index
	}
	w.count(len(p.data))
	w.index++
	w.begin()
	return e
}

// SealAlone is Seal for an entry of an atomic group. The caller calls done with the outcome; done
// is nil if nothing was recorded, and the promises then stay with the current entry.
func (w *Writer) SealAlone() (e store.Entry, done func(error)) {
	p := w.entry
	if w.facts.Empty() {
		return e, nil
	}
	w.MustSync()
	return w.Seal(), p.finished
}

// begin makes the next entry the current one.
func (w *Writer) begin() {
	w.entry = w.proposals.get(w)
	w.facts.Begin(w.index, w.entry.data)
}

func (w *Writer) count(n int) {
	w.total += int64(n)
	w.since += int64(n)
}

// Total returns the bytes of the shard in the log at the start, plus those added since.
func (w *Writer) Total() int64 { return w.total }

// SinceCheckpoint returns the number of bytes the shard has logged since the last checkpoint.
func (w *Writer) SinceCheckpoint() int64 { return w.since }

// Checkpointed restarts the count of SinceCheckpoint.
func (w *Writer) Checkpointed() { w.since, w.tried = 0, w.since }

// CheckpointFailed takes the last call of Checkpointed back.
func (w *Writer) CheckpointFailed() { w.since, w.tried = w.since+w.tried, 0 }
