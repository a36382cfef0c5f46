package grpcwire

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// The memory for requests is limited per connection and in total. Flow control windows and the
// number of calls limit it per call, but not for all calls together, and any client can open calls.
// Three things count: incomplete messages, messages that wait for a stream's handler or are used by
// a unary handler, and long headers.
//
// A connection that has not logged in has a low limit, and all such connections together may use at
// most half of the total. The other half is reserved for clients that have logged in.

// littleHeld is how many bytes a call may hold without being counted. The limit on the number of
// calls bounds them well enough.
const littleHeld = 4 << 10

// The limits of a connection that has not logged in.
const (
	strangerHeld  = 64 << 10 // held bytes
	strangerCalls = 100      // open calls
)

// weighty returns how many bytes n bytes of one call count.
func weighty(n int) int64 {
	if n <= littleHeld {
		return 0
	}
	return int64(n)
}

// errHeld refuses a request that would exceed the limit of held bytes.
var errHeld = status.Error(codes.ResourceExhausted, "grpc: the server holds too many bytes of requests")

// meet asks the application whether the client has logged in, unless that is known, and reports
// whether this has just become known. It calls the application: the caller must not hold mu.
func (c *conn) meet(call *Call) bool {
	if c.known.Load() || c.app.Admit(call) != nil {
		return false
	}
	c.known.Store(true)
	return true
}

// tooMuch returns the error for a call that would exceed the limit of held bytes. For a client that
// has not logged in it is the error of the application. It calls the application: the caller must
// not hold mu.
func (c *conn) tooMuch(call *Call) error {
	if c.known.Load() {
		return errHeld
	}
	if err := c.app.Admit(call); err != nil {
		return err
	}
	return errHeld
}

// hold adds n to the held bytes of the connection. It returns false and adds nothing if a limit
// would be exceeded.
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

// holdFor is hold for a call. If the limit of a connection without a login is exceeded, it asks the
// application about the login and tries again. It calls the application: the caller must not hold
// mu.
func (c *conn) holdFor(call *Call, n int64) bool {
	if c.hold(n) {
		return true
	}
	return c.meet(call) && c.hold(n)
}

// letGo subtracts n from the held bytes.
func (c *conn) letGo(n int64) {
	if n != 0 {
		c.held.Add(-n)
		c.srv.held.Add(-n)
	}
}

// holdPart counts the bytes of the call's incomplete message. If a limit is exceeded, it ends the
// call and returns false. Only the reader calls it.
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

// recount sets the counted bytes of the call's incomplete message to n. If a limit is exceeded, it
// sets them to 0 and returns false.
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

// refuseMore ends a call that exceeds the limit of held bytes.
func (c *conn) refuseMore(call *Call) {
	call.in.closed, call.in.body = true, nil
	err := c.tooMuch(call)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.end(call, statusOf(err))
}
