package grpcwire

import (
	"math"

	"golang.org/x/net/http2"
)

// sendState is the flow control of what is sent. conn.mu guards it.
type sendState struct {
	window int64 // of the connection; below 0 never
	first  int64 // the window that a call starts with
	frame  int   // largest payload

	headers uint64 // largest header block that the client takes

	queued  int     // bytes in the queues of all calls
	blocked []*Call // calls with a queue whose own window is open: they wait for the connection's, in turn
	crowd   []*Call // calls that wait for room
}

func (s *sendState) init() {
	s.window, s.first, s.frame = firstWindow, firstWindow, maxFrame
	s.headers = math.MaxUint64
}

// sendData sends bytes of messages, or queues what the windows hold back. mu is
// held.
func (c *conn) sendData(call *Call, p []byte) {
	if len(call.queue) == 0 {
		p = p[c.sendSome(call, p):]
	}
	if len(p) == 0 {
		return
	}
	first := len(call.queue) == 0
	call.queue = append(call.queue, p...)
	c.queued(len(p))
	if first && call.window > 0 {
		c.send.blocked = append(c.send.blocked, call)
	}
}

// queued counts n more bytes in the queues of calls, n may be negative. mu is held.
func (c *conn) queued(n int) {
	c.send.queued += n
	c.srv.queued.Add(int64(n))
}

// sendSome appends frames of p as far as the windows allow. It returns how much
// of p that is.
func (c *conn) sendSome(call *Call, p []byte) (sent int) {
	if call.window <= 0 || c.send.window <= 0 {
		return 0
	}
	b := c.out.begin()
	for sent < len(p) && call.window > 0 && c.send.window > 0 {
		n := int(min(int64(len(p)-sent), call.window, c.send.window, int64(c.send.frame)))
		b = appendFrame(b, http2.FrameData, 0, call.id, p[sent:sent+n]...)
		c.spend(call, n)
		sent += n
	}
	c.out.end(b)
	return sent
}

// spend takes a frame of n bytes off the windows.
func (c *conn) spend(call *Call, n int) {
	c.noteSent()
	call.window -= int64(n)
	c.send.window -= int64(n)
}

// pump sends from the queues of calls that the windows held back, each call a
// frame in turn. mu is held.
func (c *conn) pump() {
	s := &c.send
	for len(s.blocked) > 0 && s.window > 0 {
		call := s.blocked[0]
		s.blocked = s.blocked[1:]
		if call.ended {
			continue
		}
		n := c.sendSome(call, call.queue[:min(len(call.queue), s.frame)])
		call.queue = call.queue[n:]
		c.queued(-n)
		switch {
		case len(call.queue) == 0:
			call.queue = nil
			if call.last != nil {
				c.sendTrailers(call, call.last)
			}
		case call.window > 0:
			s.blocked = append(s.blocked, call)
		}
	}
	if len(s.blocked) == 0 {
		s.blocked = nil
	}
	c.tellRoom()
}

// widen adds n to the window of a call, n may be negative. false: the window is
// too large. mu is held.
func (c *conn) widen(call *Call, n int64) bool {
	shut := call.window <= 0
	call.window += n
	if shut && call.window > 0 && len(call.queue) > 0 {
		c.send.blocked = append(c.send.blocked, call)
	}
	return call.window <= mostWindow
}
