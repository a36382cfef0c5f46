package grpcwire

import (
	"math"

	"golang.org/x/net/http2"
)

// sendState is the flow control of sent data. conn.mu guards it.
type sendState struct {
	window int64 // of the connection; never negative
	first  int64 // initial window of a call
	frame  int   // largest payload

	headers uint64 // largest header block that the client accepts

	queued  int     // bytes in the queues of all calls
	blocked []*Call // calls with an open window that wait in turn for the connection's window
	crowd   []*Call // calls that wait for room
}

func (s *sendState) init() {
	s.window, s.first, s.frame = firstWindow, firstWindow, maxFrame
	s.headers = math.MaxUint64
}

// sendData sends bytes of messages, and queues what the windows do not allow: it keeps p. The
// caller holds mu.
func (c *conn) sendData(call *Call, p []byte) {
	if len(call.queue) == 0 {
		p = p[c.sendSome(call, p):]
	}
	if len(p) == 0 {
		return
	}
	first := len(call.queue) == 0
	if first {
		call.queue = p
	} else {
		call.queue = append(call.queue, p...)
	}
	c.queued(len(p))
	if first && call.window > 0 {
		c.send.blocked = append(c.send.blocked, call)
	}
}

// queued adds n, which may be negative, to the number of queued bytes. The caller holds mu.
func (c *conn) queued(n int) {
	c.send.queued += n
	c.srv.queued.Add(int64(n))
}

// sendSome appends data frames of p as far as the windows allow. It returns how many bytes of p it
// appended.
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

// spend subtracts a frame of n bytes from the windows.
func (c *conn) spend(call *Call, n int) {
	c.noteSent()
	call.window -= int64(n)
	c.send.window -= int64(n)
}

// pump sends queued data as far as the windows allow, one frame of each call in turn. The caller
// holds mu.
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
			releaseLarge(call.large)
			call.large = nil
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

// widen adds n, which may be negative, to the window of a call. It returns false if the window
// becomes too large. The caller holds mu.
func (c *conn) widen(call *Call, n int64) bool {
	shut := call.window <= 0
	call.window += n
	if shut && call.window > 0 && len(call.queue) > 0 {
		c.send.blocked = append(c.send.blocked, call)
	}
	return call.window <= mostWindow
}
