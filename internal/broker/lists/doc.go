// Package lists has the commands that use a queue as a list (for broker.Session.Do, DoAll and
// Await). The elements are the queue's ready messages in delivery order, the head first. Commands
// push to and pop from either end, move an element to another queue, and read elements by their
// positions.
//
// The package keeps nothing beside the queue. An element that is popped is settled at once; an
// element that is pushed becomes a persistent message with a body and no properties but its
// delivery mode.
//
// Invariants:
//
//   - A stream is not a list: the engine answers ErrWrongKind before a command runs.
//   - A move publishes and settles in one entry of the log, or in one atomic batch of entries.
//     Until the target's shard has taken part, the message is unacked, so it cannot be lost.
//   - A command that only reads loads bodies that are on disk on the caller's goroutine.
package lists
