// Package resp serves the Redis protocol, RESP2 and RESP3: what Redis users know as queues, on the
// engine's queues.
//
// It owns the connection: reading and writing, login, MULTI, blocking waits, subscriptions, the
// table of commands, and the commands about any of these. The commands about data are families in
// packages of their own (lists, streams, jobs, semaphores, keys) that know package command only;
// SEM.WATCH is here, for it is a subscription.
//
// A connection is one goroutine. It reads what the socket has, finds all whole requests in it, and
// gathers those that need the engine: one broker.Session.Do does them, with one wait for the disk,
// and one write answers them. What cannot be gathered (a change of the connection itself, say) is
// done in its turn, when everything before it is answered. While a request waits for a message, a
// second goroutine reads, so that a client that leaves is noticed. A connection that subscribes has
// a writer, for what others publish.
//
// Invariants:
//   - Answers come in the order of the requests, and not before what they tell of is durable.
//   - Requests that were gathered are all about queues, or all about semaphores.
//   - The client hears of a subscription before it gets anything of it, and nothing that others
//     publish comes within the answer of EXEC.
//   - Between requests a connection holds no buffers.
package resp
