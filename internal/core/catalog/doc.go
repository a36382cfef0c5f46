// Package catalog holds the definitions of a broker: virtual hosts with their exchanges, queues,
// bindings and parameters, users and permissions. It is pure: no clock, no I/O, no goroutines.
//
// # What it owns
//
// State is all definitions: the durable ones, and the exclusive queues and transient exchanges of
// this process, which are in the same routing tables but have no facts. A Queue here is a
// definition only. The engine embeds it in its own queue, which holds the messages, and is notified
// of changes through the interface Engine.
//
// # One code path for live changes and replay
//
// A declaration (after the check of its permissions) and State.Apply (with a fact) call the same
// methods: those of Edit for exchanges, queues and bindings, ApplyAccess for users, virtual hosts
// and permissions, ApplyParameter and ApplySequence. Applying only the facts gives the same state;
// Hash compares two states.
//
// # Concurrency
//
// Changes are made one at a time, under the lock of the definitions' log (internal/definitions).
// Readers do not take that lock: routing tables are immutable and replaced as a whole, users and
// parameters have locks of their own.
//
// # Invariants
//
//   - A queue is in State before a routing table names it. A queue that was removed never
//     comes back: ids are never reused.
//   - Policies never change the settings that fix a queue's structure (keepStructure).
//   - A fact about a virtual host, user or queue that no longer exists changes nothing.
package catalog
