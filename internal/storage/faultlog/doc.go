// Package faultlog is a log that injects faults, for the tests of everything that appends to a log.
// It delays writes (Hold), fails them (Refused), leaves their outcome unknown (Unknown), or has a
// node lose its leadership (Lose).
//
// Invariants: groups reach the store in the order in which they were appended; their done functions
// are called in that order; after the first error every done function gets an error, and nothing
// more is written.
package faultlog
