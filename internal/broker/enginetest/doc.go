// Package enginetest holds what tests of the packages above package broker share: brokers in memory
// whose log is compared with their state, clients that record what they get, a clock that stands
// still, and crashes. It is for tests only.
//
// Invariant: Close compares the state of every broker that Open opened in memory with what recovery
// makes of its log.
package enginetest
