// Package shardlog is a shard's end of the log: the current entry, the promises that wait for it,
// and how far the entries of the shard are durable. It knows nothing of queues.
//
// # What it owns
//
//   - Log, the only way into the log.
//   - Writer, the end of one shard: it seals what the shard's recorder has gathered and appends it.
//   - The promises of an entry: confirms of publishes, waiting functions (Writer.WhenRecorded), and
//     bodies that are released once nothing needs them. Once an entry is handed to the log, later
//     promises belong to the next one.
//
// # Invariants
//
//   - A promise is kept once all facts that it may rest on are as durable as was asked, and refused
//     if the log fails. Its owner hears of it once, and not before.
//   - The promises of one shard are kept in the order of its entries.
//   - A promise without facts (a duplicate, a read) waits for the entries before it.
package shardlog
