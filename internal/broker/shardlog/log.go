package shardlog

import "fiveways.dev/fiveways/internal/storage/store"

// Log is what the engine appends to: the only way into the log for the entries of shards, for
// definitions, and for the state machines (keys and semaphores). *store.Store implements it.
//
// The done functions of a Log are called in the order of the calls of Append. After one has got an
// error, all later ones get one, too: it is unknown whether their entries exist after a restart.
// State is Failed before the first error is reported, whatever the reason, so callers that wait for
// a confirm can check it. If the log ends with the leadership of its node, the error is
// store.ErrLost, also in State.
type Log interface {
	// Append adds a group of entries, which is atomic. It does not wait. The goroutine that writes
	// calls done when the group is as safe as its Wait asks.
	Append(group []store.Entry, done func(error))
	// AppendInline is Append for a caller that calls Commit soon.
	AppendInline(group []store.Entry, done func(error))
	// Commit writes what was appended on the caller's goroutine, unless another goroutine is
	// writing. The caller holds no lock that a done function takes.
	Commit()
	// Barrier calls done when everything appended for these shards is as safe as wait asks; if it
	// already is, on the caller's goroutine. An answer from the state of a shard without an entry
	// of its own waits for it, because the state may be ahead of the log.
	Barrier(shards []uint32, wait store.Wait, done func(error))
	// Pending returns the number of bytes appended but not yet written.
	Pending() int64
	// State returns the health of the log. Watch registers fn, which is called when the state
	// changes. Retry makes a log that is out of space retry at once.
	State() store.State
	Watch(fn func(store.State))
	Retry()
}
