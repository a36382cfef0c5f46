// Package grpcwire is a server of gRPC over HTTP/2. It knows nothing of what the
// services do: they register with their generated descriptions as on
// grpc.Server, which could stand in its place.
//
// # Goroutines
//
// Each connection has two. The reader (Session.Serve) handles all frames of one
// read before anything is written: that is a round. At the end of a round it
// writes what has gathered, as far as the socket takes it at once. The writer
// writes everything else: what the socket did not take, and what is appended
// while no round is on. A handler of a registered service runs on a goroutine of
// its own. An application that answers calls without one brings a [Conn].
//
// # Locks
//
// conn.mu guards what is shared: the out buffer, the open calls, the windows
// for what is sent, and what handlers take from. It is held for no call into an
// application and for no read or write. Header blocks are encoded where they are appended, under mu:
// their order on the wire is the order in which the client's table changes.
//
// # Limits
//
// Nothing that a client sends makes memory grow without bound: the reader stops
// reading while much waits to be written, what is kept of requests is bounded for
// each connection and for all of them (held.go), large answers are made in turns
// (turns.go), calls whose handlers still run count as open after the client has
// reset them, and frames that cost the client nothing, or that make the server
// reset a call, are taken from buckets. Nothing that a client begins and does not
// go on with stays: stall.go ends it.
//
// A connection that has not shown a login has less of everything; whether it has,
// its [Conn] says.
package grpcwire
