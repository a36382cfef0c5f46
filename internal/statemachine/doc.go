// Package statemachine runs state machines beside the queues on the log of the broker: the ordinary
// keys of etcd's API, and the semaphores.
//
// # What it owns
//
// A Host appends the entries of one Machine to the log, has the Machine apply them when they are
// durable, writes its checkpoints, and restores its state after a start. The content of an entry is
// the Machine's own. Append writes entries of several machines, and of shards, as one group: after
// a crash all of it is there, or nothing.
//
// # Duties of the caller
//
// Recover comes first, then Run in a goroutine, and only then entries. CheckpointIfDue is called
// from time to time. At the end: Close, Settle and WriteCheckpoint, the end of the log, and End.
//
// # Invariants
//
//   - A machine applies its entries in log order, each once, one at a time, and only when they are
//     durable.
//   - The caller that recorded an entry is notified after it was applied, and before the next one
//     is.
//   - The index of an entry is 1 plus the number of earlier entries of its machine.
package statemachine
