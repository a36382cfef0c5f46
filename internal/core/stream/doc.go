// Package stream holds what a stream (a queue whose messages stay) needs beside its messages: their
// IDs and the consumer groups, with the entries that each consumer was given and has not
// acknowledged. The rules are those of streams in Redis 7.0.
//
// It is pure: no I/O, no clock, no goroutines. A Stream belongs to one goroutine, the loop of its
// shard; only a Frozen may be used elsewhere. Callbacks must not call methods that change the
// Stream that runs them.
//
// # Structure
//
// An entry is an ID and the handle of a message. Both only grow, so one list is sorted by either;
// it is kept in blocks of 100, with 16 bytes per entry. A group has one list of pending entries,
// sorted by ID, and each of its consumers has a list of the IDs that are its own.
//
// # Invariants
//
//   - No entry has an ID above Last, and IDs and handles grow along the list.
//   - A pending entry of a group is in the list of exactly one consumer of the group. The entry
//     itself may be gone.
//   - No block is empty.
package stream
