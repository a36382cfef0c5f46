// Package queue holds the live messages of one queue: their order, what is happening to each, and
// where its body is.
//
// It is pure: no I/O, no clock, no goroutines. A State belongs to one goroutine, the loop of its
// shard; only a Frozen may be used elsewhere. Callbacks must not call methods of the State that
// runs them.
//
// # Structure
//
// Each priority level is a lane. A lane is a row of chunks, each for 256 consecutive sequence
// numbers; numbers that never came or are settled are holes, and a chunk without live messages is
// taken out of the row. What is happening to a message is one bit in one of the bitmaps of its
// chunk, so delivering, settling and returning never move a message, and a returned one is back at
// its old place.
//
// A chunk is hot, with an array of items, or packed, with the places of the messages in an
// immutable byte string of about two bytes per message and without envelopes. The delivery cursor
// unpacks the chunk it enters, Cool packs what lies elsewhere when memory runs short. Restored
// chunks are packed.
//
// # Aside
//
// A parked message counts as ready but Next passes over it; a blocked one is not ready. Why a
// message is aside is not known here, nor is it in a snapshot: restored messages are ready, or
// scheduled when they have a Due time to come.
//
// # Times
//
// Chunks are ordered in heaps by lower bounds of when a message in them expires or falls due. A
// bound may be too early (the message that set it was settled): that costs one look at the chunk.
// It is never too late.
//
// # Invariants
//
//   - ready, unacked, scheduled, parked and blocked are disjoint and together are the live
//     messages.
//   - Every message that is not live has no envelope in memory.
//   - A chunk without live messages exists only as the last of its lane.
//   - Every chunk with a ready message before the cursor is in the lane's heap of returned chunks.
package queue
