// Package shardstate is the durable state of one shard: for each of its durable queues the
// persistent messages, the keys it remembers, its stream and its job ledger.
//
// It is pure: no clock, no I/O, no goroutines, no map order. Whatever decides (the shard, with its
// clock) hands its decision over as a change; whatever replays hands over a fact, which is the same
// change as the log holds it.
//
// # One code for both
//
// The methods of Queue in apply.go are the only code that changes the state. Two callers reach
// them:
//
//   - Recorder, on the live path: it makes a change and appends its fact to the entry in the
//     making. There is no method that does one without the other.
//   - Machine.Apply, in recovery and on a follower: it decodes a fact and makes the change.
//
// So the state after a replay is the state that was there. Hash compares them, and every test that
// keeps a log does so.
//
// # What is not here
//
// Consumers, credit, and which message is unacked are of the process and not of the log. They live
// in the broker and in queue.Deliveries, the half of a queue.State that the broker may change.
// Transient messages have a place in the order of their queue, so a Queue holds them too; their
// changes pass through the same methods and leave no fact.
//
// # Invariants
//
//   - A fact about a queue that was deleted, or about a message that is gone, changes nothing.
//   - The number of a fact in its entry (sub) is its place there: messages are named by it for
//     ever.
//   - Within an entry, a fact about a message stands behind the fact that published it.
package shardstate
