// Package streams has the commands about streams (for broker.Session.Do and Await). A stream is a
// queue whose messages are entries: an entry gets an id when it is published, by any protocol, and
// stays until it is deleted, trimmed, or acknowledged by a consumer of another protocol. Consumer
// groups read entries without removing them; which entries are pending for a consumer is in the
// log. Consume registers a consumer that reads a declared stream from a place of its own, which is
// in no log, and removes nothing.
//
// The package keeps nothing beside the queue: entries, groups and pending entries are in
// core/stream.Stream, which is changed through shard.Context.Facts. The shard assigns the ids of
// published entries.
//
// Invariants:
//
//   - A command that may create a stream turns an empty queue into one. It stays a stream until it
//     is deleted or cleared.
//   - Bodies that are on disk are read on the caller's goroutine, not the shard's.
package streams
