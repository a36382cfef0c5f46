// Package broker is the engine's runtime: it owns the shards that hold the
// queues, the dispatch of messages to consumers, timers, dead-lettering,
// transactions, alarms, checkpoints and recovery. Protocol packages translate
// their wire to this API and hold no queue logic of their own. What is defined
// (internal/core/catalog) changes by way of internal/definitions; catalog.go
// says what that means for shards and sessions.
//
// # Goroutines and what each owns
//
//   - one per shard (shard.run): the queues of the shard, their consumers and
//     timers, and the log entry being built. Others send ops to the shard's
//     inbox. A session that waits for its op may have the shard for one round
//     instead (visit.go), and is "the shard's goroutine" meanwhile.
//   - the store's committer (one per node): writes entries, syncs once for all,
//     and calls the promises' callbacks, which must be short. Who had a shard
//     may do one round of that, too.
//   - one watchdog per broker: free disk space, memory alarm, checkpoint rounds.
//   - a session's methods run on its connection's own goroutine.
//
// # Decide, record, apply
//
// A shard decides with one clock reading per drain of its inbox, applies the
// decision to the pure state in core/queue through the methods of machine, and
// appends the fact to the entry of the drain. Replay calls the same methods of
// machine with the facts read back. State is applied when the entry is
// proposed, because this node is its log's only writer; promises (confirms,
// commit-ok, declare-ok) leave only when the entry is durable.
//
// # What stands on top
//
// Packages below internal/broker have the commands about jobs, lists and streams. A command finds
// its queue through a Finder, on the caller's goroutine, and is done through a Context, at the
// shard. A Feature is what such a package keeps beside the messages of a queue.
//
// # Lock order
//
// Journal.mu (of the definitions), then inbox.mu. Who visits a shard holds no lock, neither of the
// broker nor of a protocol. A shard goroutine never takes Journal.mu and
// never waits for a session; the exception is a transaction over several
// shards, whose shards meet in txGroup in one global order (Broker.txMu).
package broker
