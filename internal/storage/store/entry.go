package store

import "fiveways.dev/fiveways/internal/storage/wal"

// Pos names a fact for ever: it survives cleaning and restarts, and is never a file and an offset.
type Pos struct {
	Shard uint32
	Index uint64 // log index of the entry: contiguous per shard, from 1
	Sub   uint32 // number of the fact inside the entry, from 0
}

// Entry is one drain of a shard: concatenated facts that are written as one frame.
type Entry struct {
	Shard uint32
	Index uint64 // the shard's last index + 1
	Data  []byte // facts, immutable until done; at most 1 GiB
	Refs  int    // references that queues hold to bodies in this entry
	Wait  Wait   // what done waits for
	// Written, when not nil, is called on the goroutine that writes after the write, before done.
	// It is not called when the write fails. It must be short and must not call the store.
	Written func()
}

// Wait says how long done may come after the write of an entry. The largest of a group counts.
type Wait uint8

const (
	WaitNot   Wait = iota // not at all
	WaitBatch             // for an fsync that is put off by up to Options.BatchDelay
	WaitSync              // for an fsync that starts at once
)

// Run is a number of references to bodies of one entry.
type Run struct {
	Index uint64
	N     int
}

// EachFact calls fn for each fact of an entry (Entry.Data), with its number. Errors: ErrCorrupt,
// and those of fn, which end it.
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
