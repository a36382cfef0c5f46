package shardlog

import (
	"sync/atomic"

	"fiveways.dev/fiveways/internal/core/failure"
)

// durable records how far a shard's entries are durable, and the functions that wait for more. Most
// shards have none: an entry then costs an atomic store and a load.
type durable struct {
	upTo    atomic.Uint64 // index of the last durable entry
	failed  atomic.Bool   // no further entry will be durable
	awaited atomic.Bool   // waiting is not empty
	waiting []awaitsEntry // owned by the shard; in the order of their indexes
	asked   uint64        // owned by the shard: a sync of the entries up to this index is pending
}

// awaitsEntry is a function to call on the shard's goroutine when an entry is durable, or with an
// error if it never will be.
type awaitsEntry struct {
	index uint64
	fn    func(error)
}

// advance records that the entries up to index are durable, or never will be. It runs on the
// goroutine that writes the log, or on the shard's.
func (w *Writer) advance(index uint64, err error) {
	if err != nil {
		w.failed.Store(true)
	} else {
		w.raise(index)
	}
	if w.awaited.Load() {
		w.post(w.tellDurable)
	}
}

func (d *durable) raise(index uint64) {
	for {
		was := d.upTo.Load()
		if index <= was || d.upTo.CompareAndSwap(was, index) {
			return
		}
	}
}

// UpTo returns the index of the last durable entry. Any goroutine may call it.
func (w *Writer) UpTo() uint64 { return w.upTo.Load() }

// WhenDurable calls fn on the shard's goroutine when the entries up to index are durable, or with
// an error if they never will be. If they are and no earlier function waits, it calls fn at once.
func (w *Writer) WhenDurable(index uint64, fn func(error)) {
	w.awaited.Store(true) // before the check: an entry that becomes durable meanwhile sees it
	w.waiting = append(w.waiting, awaitsEntry{index, fn})
	switch {
	case index == w.index:
		w.MustSync()
	case index > max(w.upTo.Load(), w.asked): // entries without a promise are written, but not synced
		w.asked = w.index - 1
		upTo := w.asked
		w.Log.Barrier(w.on[:], w.Sync.Wait(), func(err error) { w.advance(upTo, err) })
	}
	w.tellDurable()
}

// tellDurable calls the functions whose entries are durable now.
func (w *Writer) tellDurable() {
	for len(w.waiting) > 0 {
		var err error
		if w.failed.Load() {
			err = failure.ErrLogFailed
		} else if w.waiting[0].index > w.upTo.Load() {
			return
		}
		first := w.waiting[0]
		w.waiting[0] = awaitsEntry{}
		w.waiting = w.waiting[1:]
		first.fn(err)
	}
	w.waiting = nil
	w.awaited.Store(false)
}
