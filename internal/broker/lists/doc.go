// Package lists has the commands that use a queue as a list (for broker.Session.Do, DoAll and
// Await): its ready messages in the order of their delivery, the head first. They are put at either
// end, taken from either end, moved to another queue, and looked at by their places.
//
// The package owns nothing beside the queue: what is taken is settled with that, and what is put is
// a persistent message with a body and no properties but its delivery mode.
//
// Invariants:
//   - A stream is no list: the engine answers ErrWrongKind before a command runs.
//   - A move publishes and settles in one entry of the log, or in one atomic batch of entries.
//     While the shard of the target does not stand still, the message is unacked and not lost.
//   - Bodies that are only on disk are read on the caller's goroutine where a command just looks.
package lists
