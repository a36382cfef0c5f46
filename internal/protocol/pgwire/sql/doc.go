// Package sql runs SQL in a session: it parses a text into statements, has each of them planned,
// and runs them with the session's transaction, prepared statements, portals and cursors.
//
// It owns the state of a session and the commands about it (BEGIN, SET, PREPARE, DECLARE, COPY,
// GRANT, EXPLAIN …). What reads and changes rows is planned by package query; functions and
// relations come from schemas (package schema), and the semantics of a transaction from a Work. The
// package is independent of sockets and of the broker.
//
// A Session is used by one goroutine.
//
// Invariants: a statement that fails has aborted its transaction when its error is returned, except
// in Run. A prepared statement runs only with a plan made for the current settings and schemas.
package sql
