// Package stream holds what a queue whose messages stay knows beside the messages: the id of each, and the groups that read them, with what was
// given to whom and is not acknowledged. The rules are those of the streams of Redis 7.0.
//
// It is pure: no I/O, no clock, no goroutines. A Stream belongs to one goroutine, the loop of its shard; only a Frozen may be used elsewhere.
// Callbacks must not call methods that change the Stream that runs them.
//
// # Structure
//
// An entry is an id and the handle of a message. Both only grow, so the entries are one row in both orders, in blocks of 100 with 16 bytes an
// entry. A group has one list of what is pending, by id, and each of its consumers has a list of the ids that are its own.
//
// # Invariants
//
//   - No entry has an id above Last, and ids and handles grow along the row.
//   - A pending entry of a group is in the list of exactly one consumer of the group. The entry itself may be gone.
//   - No block is empty.
package stream
