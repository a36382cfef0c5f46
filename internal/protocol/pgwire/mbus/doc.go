// Package mbus implements the functions of the schemas mbus4 and mbus on top of the broker's
// queues: posting and consuming messages with SQL, in transactions.
//
// It owns how a record of SQL becomes a message and back (docs/protocols/sql-mapping.md), the views
// of queues, and the journal of a transaction, which is undone on a rollback. The engine owns the
// queues, package sql the statements.
//
// A Session is used by the goroutine of its connection. Invariant: a message that SQL has posted is
// read again with the same values.
package mbus
