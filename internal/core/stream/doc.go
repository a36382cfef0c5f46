// Package stream holds what a stream (a queue whose messages stay) needs in addition to its
// messages: their IDs and the consumer groups, with the entries that each consumer has received but
// not acknowledged. The rules are those of streams in Redis 7.0.
//
// It is pure: no I/O, no clock, no goroutines. A Stream belongs to one goroutine, the loop of its
// shard; only a Frozen may be used elsewhere. Callbacks must not change the Stream that calls them.
//
// # Structure
//
// An entry is an ID and the handle of a message. Both only grow, so a single list is sorted by
// both. It consists of blocks of 100 entries with 16 bytes each. A group has one list of pending
// entries, sorted by ID, and each of its consumers has a list of the IDs of its own pending
// entries.
//
// # Invariants
//
//   - No entry has an ID above Last, and IDs and handles grow along the list.
//   - A pending entry of a group is in the list of exactly one consumer of the group. The entry
//     itself may be gone.
//   - No block is empty.
package stream
