// Package dedup remembers which messages came already.
//
// It is pure: no I/O, no clock, no goroutines. What a Memory holds depends on nothing but the calls of Remember, so that replaying
// them gives the same memory. A key costs about 80 bytes.
//
// # Invariants
//
//   - A Memory holds the last limit calls of Remember at most, without those at the old end whose time was over at the last call.
//   - For each key only the newest of its calls counts.
package dedup
