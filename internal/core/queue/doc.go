// Package queue holds the live messages of one queue: their order, the status of each, and where
// its body is.
//
// It is pure: no I/O, no clock, no goroutines. A State belongs to one goroutine, the loop of its
// shard; only a Frozen may be used elsewhere. Callbacks must not call methods of the State that
// runs them.
//
// # Structure
//
// Each priority level is a lane. A lane is a row of chunks, each for 256 consecutive sequence
// numbers; numbers that were skipped or settled are holes, and a chunk without live messages is
// removed from the row. The status of a message is one bit in one of the bitmaps of its chunk, so
// delivering, settling and returning never move a message, and a returned one keeps its place.
//
// A chunk is hot, with an array of items, or packed, with an immutable encoding of the messages
// without envelopes; a packed message takes one and a half to four bytes in all. The delivery
// cursor unpacks the chunk that it enters; Cool packs other chunks when memory is short. Restored
// chunks are packed.
//
// # Aside
//
// A parked message counts as ready, but Next skips it; a blocked one is not ready. The reasons are
// not recorded here. A snapshot does not include these statuses: restored messages are ready, or
// scheduled if they have a Due time in the future.
//
// # Times
//
// Chunks are ordered in heaps by lower bounds of the times at which their messages expire or become
// due. A bound may be too early, because the message that set it was settled; then the chunk is
// examined once in vain. It is never too late.
//
// # Invariants
//
//   - ready, unacked, scheduled, parked and blocked are disjoint and together are the live
//     messages.
//   - Every message that is not live has no envelope in memory.
//   - A chunk without live messages exists only as the last of its lane.
//   - Every chunk with a ready message before the cursor is in the lane's heap of returned chunks.
package queue
