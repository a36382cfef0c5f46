// Package faultlog is a log that injects faults, for the tests of everything that appends to one:
// it is slow (Hold), it fails (Refused), or the entry is there without an answer (Unknown), as when
// a node loses its leadership in the middle of a write.
//
// Invariants: groups reach the store in the order in which they were appended; dones are called in
// that order; after the first error every done gets one, and nothing more is written.
package faultlog
