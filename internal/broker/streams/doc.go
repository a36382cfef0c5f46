// Package streams has the commands about streams (for broker.Session.Do and Await). A stream is a
// queue whose messages are entries: each has an id from the moment it comes, by any protocol,
// and stays until it is deleted, trimmed, or acknowledged by a consumer of another protocol. Groups
// read entries where they stand; what is pending for their consumers is in the log.
//
// The package owns nothing beside the queue: entries, groups and pending entries are
// core/stream.Stream, which broker.Context.Facts changes. That what is published to a stream gets
// an id is the shard's.
//
// Invariants:
//   - An empty queue is made a stream by the first command that may make one, and is one until it
//     is deleted or cleared.
//   - Bodies that are only on disk are read on the caller's goroutine, not the shard's.
package streams
