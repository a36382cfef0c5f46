// Package dedup remembers the keys of messages, to recognise duplicates.
//
// It is pure: no I/O, no clock, no goroutines. The content of a Memory depends only on the calls of
// Remember, so that replaying them gives the same memory. A key costs about 80 bytes.
//
// # Invariants
//
//   - A Memory holds at most the keys of the last limit calls of Remember, except the oldest ones
//     that had expired at the last call.
//   - For each key only the newest call counts.
package dedup
