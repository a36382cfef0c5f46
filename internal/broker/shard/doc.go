// Package shard holds the queues at run time. A shard owns a set of queues: it decides what
// becomes of their messages, records that, and hands messages to consumers. What is above it
// (sessions, commands, the definitions) reaches it by ops and knows nothing of its inside.
//
// # What it owns
//
//   - Queue and its consumers, timers, dead letters, exchange buffers, and what of its messages is
//     in memory. Definitions are the catalog's; the durable state is that of core/shardstate;
//     the current entry of the log, with what waits for it, is shardlog's.
//   - Set, the shards of one broker with what they share: the log, the store, the memory in use.
//
// # A round
//
// One goroutine at a time runs a shard: its own, or that of a session that waits for its op anyway
// (inline.go). It takes all ops of the inbox, reads the clock once, fires timers, does the ops,
// visits each changed queue once, and hands the entry to the log.
//
// # Decide, record, apply
//
// A shardstate.Recorder makes each change of the durable state and appends its fact to the entry in
// hand, in one call. Recovery reads the facts and makes the same changes by the same code. State
// changes before the entry is durable, because this node is the only writer of its log; promises
// are kept only when the entry is durable.
//
// # What is above
//
// A package that adds to queues does its work through a Context, at the shard of a queue, and keeps
// what it needs beside the messages in a Feature. A shard knows of a session only its Client. It
// asks for changes of the definitions through Definer.
//
// # Invariants
//
//   - While an inbox has ops, a goroutine runs its shard, or its own was told to wake.
//   - A shard never waits, except for the other shards of a transaction or a command group, which
//     all shards see in one order (standstill.go).
//   - No Sink or shardlog.Confirmer is called for what is not as durable as was asked.
package shard
