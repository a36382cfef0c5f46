// Package statemachine keeps state machines beside the queues in the log of the broker: the
// ordinary keys of etcd's API and the semaphores.
//
// # What it owns
//
// A Host appends the entries of one Machine to the log, has the Machine apply them when they are
// durable, writes its checkpoints and gives it its state back after a start. What an entry says is
// the Machine's own business. A group of entries of several machines can be appended together with
// entries of shards (Append), so that all of it is there after a crash or nothing.
//
// # Duties of the caller
//
// Recover comes first, then Run in a goroutine, and only then entries. CheckpointIfDue is called
// now and then. At the end: Close, Settle and WriteCheckpoint, the end of the log, and End.
//
// # Invariants
//
//   - A machine applies its entries in the order of the log, each once, one at a time, and only
//     when they are durable.
//   - The caller that recorded an entry is told after it was applied, and before the next one is.
//   - The index of an entry is the number of the entries of its machine before it, plus 1.
package statemachine
