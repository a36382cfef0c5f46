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
// reading while much waits to be written, data waits in the queue of its call
// while the client's windows are shut and new calls are refused while too much
// waits so, calls whose handlers still run count as open after the client has
// reset them, and frames that cost the client nothing are taken from a bucket.
package grpcwire
