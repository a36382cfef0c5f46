// Package dependency enforces the order that messages ask for across queues (consume_after). A
// message may name others by their message-ids. It is blocked while one of these is in any of the
// queues, even one that was published later.
//
// A Graph covers the queues of one virtual host on one shard; a Member is one of its queues. The
// shard owns both. It reports messages that arrive (Look, Arrive), return (Block) and are removed
// (Went), and is told which messages are no longer blocked (Queue.Unblocked). A Graph blocks and
// unblocks messages in the deliveries of their queues, and changes nothing else. It is pure: no
// I/O, no clock, no goroutines.
//
// # Which message waits for which
//
// A message waits for every message with an id that it names. Messages that name each other in a
// cycle are an exception: within it a message waits only for older messages and for those that name
// none, so that no message waits forever (circles.go). A copy of a message, which is a dead letter
// or a message that a transaction moved from one of these queues to another, names none.
//
// # Invariants
//
//   - All of this follows from the existing messages and the order in which they arrived. It is
//     not in the log: Recall rebuilds it.
//   - A message that waits is neither ready nor scheduled. A lent message is not blocked until it
//     returns.
//   - The cost per message does not depend on how many other messages there are, except in cycles.
package dependency
