// Package broker is the engine of one node: it opens the data directory, owns the shards, which
// hold the queues (package shard), and provides the sessions through which protocols use them.
// Protocol packages translate their wire format to this API and contain no queue logic.
// internal/definitions changes the definitions (internal/core/catalog), and catalog.go applies
// these changes to shards and sessions.
//
// # What it owns
//
//   - Session: permissions, routing, the collected operations of one connection, commands, and
//     transactions over several shards.
//   - Checkpoints, cleaning, alarms, and the removal of idle queues, for all shards.
//
// # Goroutines and what each owns
//
//   - One per shard: the queues of the shard, their consumers and timers, and the current log
//     entry. A session that waits for its op may run the shard itself for one round
//     (shard/inline.go); it is "the shard's goroutine" meanwhile.
//   - The committer of the store, one per node: writes entries, syncs once for all of them, and
//     calls the callbacks of promises, which must be short. A session that ran a shard may also run
//     one round of the committer.
//   - One watchdog per broker: disk space and memory, for alarms.
//   - One goroutine per broker for checkpoints and cleaning.
//   - Methods of a session run on the goroutine of its connection.
//
// # Packages on top
//
// Packages below internal/broker contain the commands for jobs, lists and streams, and lend
// messages one by one (loans). A command finds its queue through a Finder, on the caller's
// goroutine, and runs through a shard.Context, at the shard. Package inspect reads queues and
// changes nothing.
//
// # Lock order
//
// Journal.mu (of the definitions), then the inbox of a shard. A session that runs a shard holds no
// lock, neither of the broker nor of a protocol. A shard's goroutine never takes Journal.mu and
// never waits, with one exception: the shards of a transaction, or of DoAll, wait for each other,
// in one order for all (Broker.txMu).
package broker
