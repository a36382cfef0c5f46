// Package shard holds the queues at run time. A shard owns a set of queues: it decides what happens
// to their messages, records that, and delivers messages to consumers. The layers above it
// (sessions, commands, the definitions) reach it by ops and do not know its internals.
//
// # What it owns
//
//   - Queue and its consumers, timers, dead letters, exchange buffers, and the part of its messages
//     that is in memory. The definitions belong to the catalog, the durable state to
//     core/shardstate, and the current entry of the log, with its promises, to shardlog.
//   - Set, the shards of one broker and their shared state: the log, the store, the memory in use.
//
// # A round
//
// One goroutine at a time runs a shard: its own, or that of a session that waits for its op anyway
// (inline.go). It takes all ops from the inbox, reads the clock once, fires timers, executes the
// ops, visits each changed queue once, and hands the entry to the log.
//
// # Decide, record, apply
//
// A shardstate.Recorder makes each change of the durable state and appends its fact to the current
// entry, in one call. Recovery reads the facts and makes the same changes with the same code. State
// changes before the entry is durable, because this node is the only writer of its log. Promises
// are kept only once the entry is durable.
//
// # Higher packages
//
// A package that adds to queues does its work through a Context, at the shard of a queue, and keeps
// its own state for a queue in a Feature. A shard knows only the Client of a session. It asks for
// changes of the definitions through Definer.
//
// # Invariants
//
//   - While an inbox has ops, a goroutine runs its shard, or the shard's own has been woken.
//   - A shard never waits, except for the other shards of a transaction or a command group, which
//     all shards see in one order (standstill.go).
//   - A Sink or shardlog.Confirmer is called only once the change is as durable as was asked.
package shard
