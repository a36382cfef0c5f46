// Package statemachine runs state machines on the broker's log, in addition to the queues: the
// ordinary keys of etcd's API, and the semaphores.
//
// # What it owns
//
// A Host appends the entries of one Machine to the log, calls the Machine to apply them when they
// are durable, writes its checkpoints, and restores its state after a start. The Machine defines
// the content of entries. Append writes entries of several machines, and of shards, as one atomic
// group.
//
// # Duties of the caller
//
// The caller first calls Recover, then Run in a goroutine, and only then records entries. It calls
// CheckpointIfDue periodically. At the end it calls Close, Settle and WriteCheckpoint, closes the
// log, and calls End.
//
// # Invariants
//
//   - A machine applies its entries in log order, each once, one at a time, and only when they are
//     durable.
//   - The caller that recorded an entry is notified after it was applied, and before the next one
//     is.
//   - The index of an entry is 1 plus the number of earlier entries of its machine.
package statemachine
