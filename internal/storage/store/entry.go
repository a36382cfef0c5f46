package store

import "fiveways.dev/fiveways/internal/storage/wal"

// Pos identifies a fact permanently: cleaning and restarts do not change it.
type Pos struct {
	Shard uint32
	Index uint64 // log index of the entry: contiguous per shard, from 1
	Sub   uint32 // number of the fact inside the entry, from 0
}

// Entry is one batch of a shard: concatenated facts that are written as one frame.
type Entry struct {
	Shard uint32
	Index uint64 // the shard's last index + 1
	Data  []byte // facts, immutable until done; at most 1 GiB
	Refs  int    // references that queues hold to bodies in this entry
	Wait  Wait   // what done waits for
	// Written, if not nil, is called on the writing goroutine after a successful write and before
	// done. It must be short and must not call the store.
	Written func()
}

// Wait says what done waits for after the write of an entry. The largest of a group counts.
type Wait uint8

const (
	WaitNot   Wait = iota // nothing
	WaitBatch             // an fsync that may be delayed by up to Options.BatchDelay
	WaitSync              // an fsync that starts at once
)

// Run is a number of references to bodies of one entry.
type Run struct {
	Index uint64
	N     int
}

// EachFact calls fn for each fact of an entry (Entry.Data) with its number. It stops at the first
// error of fn and returns it, or returns ErrCorrupt.
func EachFact(entry []byte, fn func(sub uint32, fact []byte) error) error {
	facts := wal.NewFacts(wal.KindFacts, entry)
	for sub, fact, ok := facts.Next(); ok; sub, fact, ok = facts.Next() {
		if err := fn(sub, fact); err != nil {
			return err
		}
	}
	if facts.Err() != nil {
		return ErrCorrupt
	}
	return nil
}
