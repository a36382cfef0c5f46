// Package catalog holds the definitions of a broker: virtual hosts with their exchanges, queues,
// bindings and parameters, users and permissions. It is pure: no clock, no I/O, no goroutines.
//
// # What it owns
//
// State is all definitions: those that the log has, and the exclusive queues and transient
// exchanges of the process, which are in the same routing tables and leave no fact. A Queue here is
// a definition; the messages belong to the engine, which embeds the definition in its own queue and
// is told of changes as an Engine.
//
// # One code for both
//
// Deciding (a declaration, with its rights) and replaying (State.Apply, with a fact) end in the
// same methods: those of Edit for exchanges, queues, bindings, ApplyAccess for users, virtual hosts
// and permissions, ApplyParameter and ApplySequence. Applying the facts alone leads to the same
// state; Hash compares two states.
//
// # Concurrency
//
// Changes are made one at a time, under the lock of the log (internal/definitions). Readers take no
// such lock: routing tables are immutable and replaced as a whole, users and parameters have their
// own locks for readers.
//
// # Invariants
//
//   - A queue that a routing table names is in State before the table is, and a queue that is gone
//     from State never comes back: ids are never used again.
//   - Policies never change what gives a queue its structure (keepStructure).
//   - What a fact says of a virtual host, user or queue that is gone changes nothing.
package catalog
