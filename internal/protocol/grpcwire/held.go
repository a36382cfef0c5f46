package grpcwire

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// What clients have the server keep is bounded over all connections: windows and the number of calls bound it for one call and for one connection,
// but not for all calls together, and anybody can open calls. What counts are messages of which a part is missing, messages that wait for the handler
// of a stream or are in the hands of one of a unary call, and long headers.

// littleHeld is what a call may keep without being counted: the number of calls bounds it well enough.
const littleHeld = 4 << 10

// weighty is what n bytes of one call count.
func weighty(n int) int64 {
	if n <= littleHeld {
		return 0
	}
	return int64(n)
}

// errHeld refuses what would be too much.
var errHeld = status.Error(codes.ResourceExhausted, "grpc: the server holds too many bytes of requests")

// hold counts n bytes; false: they are too many and not counted.
func (s *Server) hold(n int64) bool {
	if n == 0 || s.held.Add(n) <= s.o.MaxHeldBytes {
		return true
	}
	s.held.Add(-n)
	return false
}

// letGo counts n bytes off.
func (s *Server) letGo(n int64) {
	if n != 0 {
		s.held.Add(-n)
	}
}

// holdPart counts the part that is there of the call's next message; false: it is too much, and the call has ended. It is the reader's.
func (c *conn) holdPart(call *Call) bool {
	n := weighty(cap(call.in.body))
	if n == 0 && !call.in.held {
		return true
	}
	call.in.held = n > 0
	c.mu.Lock()
	defer c.mu.Unlock()
	if n == call.part || call.ended {
		return true
	}
	c.srv.letGo(call.part)
	call.part = n
	if c.srv.hold(n) {
		return true
	}
	call.part = 0
	c.refuseMore(call)
	return false
}
