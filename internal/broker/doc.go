// Package broker is the engine of one node: it opens the data folder, owns the shards, which hold
// the queues (package shard), and has the sessions through which protocols use them. Protocol
// packages translate their wire format to this API and hold no queue logic of their own.
// Definitions (internal/core/catalog) are changed by internal/definitions; catalog.go applies their
// changes to shards and sessions.
//
// # What it owns
//
//   - Session: permissions, routing, what one connection has gathered for the shards, commands,
//     transactions over several shards.
//   - Checkpoints, cleaning, alarms, and the removal of idle queues, for all shards.
//
// # Goroutines and what each owns
//
//   - one per shard: the queues of the shard, their consumers and timers, and the log entry in
//     hand. A session that waits for its op may run the shard itself for one round
//     (shard/inline.go); it is "the shard's goroutine" meanwhile.
//   - the committer of the store, one per node: writes entries, syncs once for all of them, and
//     calls the callbacks of promises, which must be short. A session that ran a shard may run one
//     round of the committer, too.
//   - one watchdog per broker: disk space and memory, for alarms.
//   - one goroutine per broker for checkpoints and cleaning.
//   - methods of a session run on the goroutine of its connection.
//
// # What stands on top
//
// Packages below internal/broker have the commands about jobs, lists and streams, and lend messages
// one by one (loans). A command finds its queue through a Finder, on the caller's goroutine, and is
// done through a shard.Context, at the shard. Package inspect looks at queues, and changes nothing.
//
// # Lock order
//
// Journal.mu (of the definitions), then the inbox of a shard. A session that runs a shard holds no
// lock, neither of the broker nor of a protocol. A shard's goroutine never takes Journal.mu and
// never waits, with one exception: the shards of a transaction, or of DoAll, wait for each other,
// in one order for all (Broker.txMu).
package broker
