// Package pgwire serves the PostgreSQL protocol (version 3.0): start-up, authentication, simple and
// extended queries, portals, cancel.
//
// A connection has one goroutine, which reads messages, runs them in a session of package sql, and
// writes the answers. Interruptions (a cancel request, a drain, an eviction) come from other
// goroutines and only cancel contexts, set flags and wake the read. Nothing else of a connection is
// shared. Between messages its only buffer is a read buffer of 8 KiB.
package pgwire
