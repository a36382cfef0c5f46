// Package resp serves the Redis protocol, RESP2 and RESP3: lists, streams, channels and jobs on the
// engine's queues.
//
// It owns the connection: reading and writing, login, MULTI, blocking waits, subscriptions, the
// table of commands, and the commands about any of these. The commands about data are in a package
// for each family (lists, streams, jobs, semaphores, keys), which imports package command but not
// this one. SEM.WATCH is here, because it is a subscription.
//
// A connection has one goroutine. It reads what the socket has, parses all whole requests in it,
// and collects those that need the engine: one broker.Session.Do runs them, with one wait for the
// disk, and one write answers them. A request that cannot be collected, such as one that changes
// the connection itself, runs when everything before it has been answered. While a request waits
// for a message, a second goroutine reads, to notice that the client disconnects. A connection that
// subscribes has a writer for published messages.
//
// Invariants:
//
//   - Answers are sent in the order of the requests, and not before the changes that they report
//     are durable.
//   - The requests of one call are all about queues, or all about semaphores.
//   - The client gets the answer to a subscription before the first message of it, and no message
//     of a subscription inside the answer of EXEC.
//   - Between requests a connection holds no buffers.
package resp
