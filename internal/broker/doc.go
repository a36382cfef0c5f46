// Package broker is the engine at run time. It owns the shards, which hold the queues, and with
// them the dispatch of messages to consumers, timers, dead-lettering, transactions, alarms,
// checkpoints and recovery. Protocol packages translate their wire format to this API and hold no
// queue logic of their own. Definitions (internal/core/catalog) are changed by
// internal/definitions; catalog.go applies their changes to shards and sessions.
//
// # Goroutines and what each owns
//
//   - one per shard (shard.run): the queues of the shard, their consumers and timers, and the log
//     entry in hand. Other goroutines send ops to the shard's inbox. A session that waits for its
//     op may run the shard itself for one round (inline.go); it is "the shard's goroutine"
//     meanwhile.
//   - the committer of the store, one per node: writes entries, syncs once for all of them, and
//     calls the callbacks of promises, which must be short. A session that ran a shard may run one
//     round of the committer, too.
//   - one watchdog per broker: disk space and memory, for alarms.
//   - one goroutine per broker for checkpoints and cleaning.
//   - methods of a session run on the goroutine of its connection.
//
// # Decide, record, apply
//
// A shard reads its clock once per round of its inbox and decides. A shardstate.Recorder makes each
// change of the durable state and appends its fact to the entry in hand, in one call. Recovery
// reads the facts and makes the same changes by the same code. State changes before the entry is
// durable, because this node is the only writer of its log; promises (confirms, commit-ok,
// declare-ok) are sent only when the entry is durable.
//
// # What stands on top
//
// Packages below internal/broker have the commands about jobs, lists and streams, and lend messages
// one by one (loans). A command finds its queue through a Finder, on the caller's goroutine, and is
// done through a Context, at the shard. A Feature is what such a package keeps beside the messages
// of a queue. Package inspect looks at queues, and changes nothing.
//
// # Lock order
//
// Journal.mu (of the definitions), then inbox.mu. A session that runs a shard holds no lock,
// neither of the broker nor of a protocol. A shard's goroutine never takes Journal.mu and never
// waits, with one exception: the shards of a transaction, or of DoAll, wait for each other, in one
// order for all (Broker.txMu).
package broker
