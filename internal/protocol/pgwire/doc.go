// Package pgwire serves the PostgreSQL protocol (version 3.0): start-up, authentication, simple and
// extended queries, portals, cancel.
//
// A connection is one goroutine, which reads messages, runs them in a session of package sql, and
// writes the answers; what interrupts it (a cancel request, a drain, an eviction) comes from other
// goroutines and only ends contexts, sets flags and wakes the read. Nothing else of a connection is
// shared. Between messages it holds a read buffer of 8 KiB and no other.
package pgwire
