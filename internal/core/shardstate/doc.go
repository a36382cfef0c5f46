// Package shardstate is the durable state of one shard: for each durable queue its persistent
// messages, its remembered keys, its stream and its job ledger.
//
// It is pure: no clock, no I/O, no goroutines, no dependence on map order. The shard, which has the
// clock, decides and makes a change here; a replay makes the same change from a fact, which is the
// change as the log records it.
//
// # One code path for live changes and replay
//
// Only the methods of Queue in apply.go and stream.go change the state. They have two callers:
//
//   - Recorder, on the live path: it makes a change and appends its fact to the current entry. No
//     method does one without the other.
//   - Machine.Apply, in recovery and on a follower: it decodes a fact and makes the change.
//
// So a replay ends in the same state. Every test with a log checks this by comparing hashes.
//
// # What is not here
//
// Consumers, credit and deliveries belong to the process, not to the log. They are in the broker
// and in queue.Deliveries, the half of a queue.State that the broker may change. Transient messages
// have a place in the order of their queue, so a Queue holds them too; their changes use the same
// methods but have no fact.
//
// # Invariants
//
//   - A fact about a queue that was deleted, or about a message that is gone, changes nothing.
//   - The number of a fact in its entry (sub) is its position there. It identifies messages
//     forever.
//   - Within an entry, a fact about a message follows the fact that published it.
//   - A checkpoint copies the queues a few at a time. So before a method changes durable state, it
//     calls changes, which copies the queue for the checkpoint that is being taken.
package shardstate
