package grpcwire

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// The memory for requests is limited per connection and in total: windows and the number of calls
// limit it for one call, but not for all calls together, and any client can open calls. Counted are
// incomplete messages, messages that wait for a stream's handler or are in use by a unary one, and
// long headers.
//
// A connection that has not logged in may use little, and all of those together at most half of the
// total: the other half is for clients that have logged in.

// littleHeld is what a call may keep without being counted: the number of calls bounds it well
// enough.
const littleHeld = 4 << 10

// What a connection without a login may have.
const (
	strangerHeld  = 64 << 10 // bytes kept
	strangerCalls = 100      // open calls
)

// weighty is what n bytes of one call count.
func weighty(n int) int64 {
	if n <= littleHeld {
		return 0
	}
	return int64(n)
}

// errHeld refuses what would be too much.
var errHeld = status.Error(codes.ResourceExhausted, "grpc: the server holds too many bytes of requests")

// meet asks whether the client has logged in, if that is not known yet, and reports whether it is
// known only now. It calls the application: mu is not held.
func (c *conn) meet(call *Call) bool {
	if c.known.Load() || c.app.Admit(call) != nil {
		return false
	}
	c.known.Store(true)
	return true
}

// tooMuch is the error of a call for which too much would be kept. A client that has not logged in
// hears that. It calls the application: mu is not held.
func (c *conn) tooMuch(call *Call) error {
	if c.known.Load() {
		return errHeld
	}
	if err := c.app.Admit(call); err != nil {
		return err
	}
	return errHeld
}

// hold counts n bytes that the connection has the server keep. false: they are too many and not
// counted.
func (c *conn) hold(n int64) bool {
	if n == 0 {
		return true
	}
	o := &c.srv.o
	most, mostOfAll := o.MaxConnHeldBytes, o.MaxHeldBytes
	if !c.known.Load() {
		most, mostOfAll = strangerHeld, mostOfAll/2
	}
	if c.held.Add(n) > most {
		c.held.Add(-n)
		return false
	}
	if c.srv.held.Add(n) > mostOfAll {
		c.letGo(n)
		return false
	}
	return true
}

// holdFor is hold for a call. A connection that has too much for a stranger is asked for its
// login. It calls the application: mu is not held.
func (c *conn) holdFor(call *Call, n int64) bool {
	if c.hold(n) {
		return true
	}
	return c.meet(call) && c.hold(n)
}

// letGo counts n bytes off.
func (c *conn) letGo(n int64) {
	if n != 0 {
		c.held.Add(-n)
		c.srv.held.Add(-n)
	}
}

// holdPart counts the part that is there of the call's next message; false: it is too much, and
// the call has ended. It is the reader's.
func (c *conn) holdPart(call *Call) bool {
	n := weighty(cap(call.in.body))
	if n == 0 && !call.in.held {
		return true
	}
	call.in.held = n > 0
	if c.recount(call, n) || c.meet(call) && c.recount(call, n) {
		return true
	}
	c.refuseMore(call)
	return false
}

// recount has the missing message of a call count n. false: it is too much, and counts nothing.
func (c *conn) recount(call *Call, n int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n == call.part || call.ended {
		return true
	}
	c.letGo(call.part)
	call.part = n
	if c.hold(n) {
		return true
	}
	call.part = 0
	return false
}

// refuseMore ends a call for which more would be kept than there is room for.
func (c *conn) refuseMore(call *Call) {
	call.in.closed, call.in.body = true, nil
	err := c.tooMuch(call)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end(call, statusOf(err))
}
