// Package grpcwire is a gRPC server over HTTP/2. It knows nothing about the services: they register
// with their generated descriptions as on grpc.Server, which could replace it.
//
// # Goroutines
//
// Each connection has two. The reader (Session.Serve) handles all frames of one read before
// anything is written: this is a round. At the end of a round it writes the collected output, as
// far as the socket accepts it at once. The writer writes everything else: what the socket did not
// accept, and what is appended outside rounds. A handler of a registered service runs on its own
// goroutine. An application that answers calls without one provides a [Conn].
//
// # Locks
//
// conn.mu guards the shared state: the out buffer, the open calls, the send windows, and the
// requests that handlers take. It is never held during a call into an application, a read or a
// write. Header blocks are encoded under mu where they are appended: their order on the wire is the
// order in which the client's table changes.
//
// # Limits
//
// Nothing that a client sends makes memory grow without bound: the reader stops reading while much
// output waits, buffered requests are limited per connection and in total (held.go), large answers
// need a slot (answerslots.go), calls whose handlers still run count as open after the client has
// reset them, and token buckets limit the rate of frames that cost the client nothing or make the
// server reset a call. stall.go ends calls and connections that a client begins and does not
// continue.
//
// A connection that has not logged in has lower limits; its [Conn] reports whether it has.
package grpcwire
