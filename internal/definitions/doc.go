// Package definitions changes what is defined in a broker (internal/core/catalog), one change at a
// time, and records each change in the log of the definitions.
//
// # What it owns
//
// The Journal owns the lock under which definitions change, and the numbers of the entries of their
// log. Admin is what administrators do: users, virtual hosts, permissions, limits, parameters and
// sequences of numbers. What exchanges, queues and bindings need of shards is the engine's: it
// takes the lock, makes a catalog.Edit, and records it here.
//
// # A change
//
// Lock; decide; apply the change to the state; Record its facts; Unlock; Await. So the order of the
// facts in the log is that of the changes, and nobody waits for the disk with the lock held.
//
// # Invariants
//
//   - Applying the facts of the log in their order to the state of the last checkpoint gives the
//     state that was there when the last one was recorded.
//   - What Await has answered is there after a crash.
package definitions
