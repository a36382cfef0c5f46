// Package definitions changes the definitions of a broker (internal/core/catalog), one change at a
// time, and records each change in the definitions' own log.
//
// # What it owns
//
// The Journal owns the lock under which definitions change, and the numbers of the entries in their
// log. Admin implements the operations of administrators: users, virtual hosts, permissions,
// limits, parameters and sequences of numbers. Changes of exchanges, queues and bindings also
// involve shards, so the engine makes them: it takes the lock, makes a catalog.Edit, and records it
// here.
//
// # A change
//
// Lock; decide; apply the change to the state; Record its facts; Unlock; Await. So the facts are in
// the log in the order of the changes, and no goroutine waits for the disk while it holds the lock.
//
// # Invariants
//
//   - Applying the facts of the log in order to the state of the last checkpoint gives the state
//     after the last recorded change.
//   - A change for which Await has returned without an error survives a crash.
package definitions
