package broker

import "fiveways/internal/storage/store"

// Log is what the engine appends to: the only road to the log for the entries of shards, for
// definitions, and for the state machines (keys and semaphores). *store.Store is one.
//
// The dones of one Log are called in the order of the calls of Append, with an error once one has
// failed: of the entries behind it nobody knows whether they are there after a restart.
type Log interface {
	// Append adds a group of entries, which will be there as a whole or not at all. It does not
	// wait. done is called on the goroutine that writes when the group is as safe as its Wait asks.
	Append(group []store.Entry, done func(error))
	// AppendInline is Append for a caller that calls Commit soon.
	AppendInline(group []store.Entry, done func(error))
	// Commit writes what was appended on the caller's goroutine, unless another one is at it. The
	// caller holds no lock that a done takes.
	Commit()
	// Barrier calls done when what was appended before for these shards is as safe as wait asks, on
	// the caller's goroutine when it is so already. What is answered from the state of a shard
	// without an entry of its own waits for it: the state may be ahead of the log.
	Barrier(shards []uint32, wait store.Wait, done func(error))
	// Pending is how many bytes are appended and not yet written.
	Pending() int64
	// State is the health of the log; Watch has fn called when it changes; Retry makes a log
	// without space try again at once.
	State() store.State
	Watch(fn func(store.State))
	Retry()
}

// toLog is the log of a broker on a store.
func (o *Options) toLog(st *store.Store) Log {
	if o.WrapLog != nil {
		return o.WrapLog(st)
	}
	return st
}
