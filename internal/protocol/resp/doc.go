// Package resp serves the Redis protocol, RESP2 and RESP3: what Redis users know as queues, on the engine's queues.
//
// A connection is one goroutine. It reads what the socket has, finds all whole requests in it, and gathers those that need the engine: one
// broker.Session.Do does them, with one wait for the disk, and one write answers them. What cannot be gathered (a change of the connection
// itself, say) is done in its turn, when everything before it is answered. While a request waits for a message, a second goroutine reads, so that a
// client that leaves is noticed. A connection that subscribes has a writer, for what others publish.
//
// Between requests a connection holds no buffers.
package resp
