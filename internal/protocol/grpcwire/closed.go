package grpcwire

import "golang.org/x/net/http2"

// mostClosed is how many ended calls are remembered. Frames for an older one are treated like
// frames for a stream that was never opened.
const mostClosed = 64

// closedCalls remembers how the most recent calls ended. conn.mu guards it.
type closedCalls struct {
	last [mostClosed]closedCall
	next int
}

type closedCall struct {
	id uint32
	// early reports that the server ended the call first. Frames of the client may still be in
	// flight and are no protocol error.
	early bool
}

func (cs *closedCalls) add(id uint32, early bool) {
	cs.last[cs.next] = closedCall{id, early}
	cs.next = (cs.next + 1) % mostClosed
}

// giveUp notes that the client has ended the call as well: no further frame of it is in flight.
func (cs *closedCalls) giveUp(id uint32) {
	for i := range cs.last {
		if cs.last[i].id == id {
			cs.last[i].early = false
		}
	}
}

func (cs *closedCalls) find(id uint32) (call closedCall, known bool) {
	for _, c := range cs.last {
		if c.id == id {
			return c, true
		}
	}
	return closedCall{}, false
}

// lateFrame accepts a frame for a call that is not open. Each frame that the server has sent
// excuses one, since the two may have crossed. Further frames are taken from a rate limit. The
// caller holds mu.
func (c *conn) lateFrame() error {
	if c.late < c.sentAll {
		c.late++
		return nil
	}
	if !c.calm.Allow() {
		return connFault(http2.ErrCodeEnhanceYourCalm, "too many frames for calls that are over")
	}
	return nil
}

// lateData handles data for a call that is not open.
func (c *conn) lateData(id uint32) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if call, known := c.closed.find(id); known && !call.early {
		return callFault(id, http2.ErrCodeStreamClosed, "data after the end")
	}
	return c.lateFrame()
}

// lateHeaders handles headers for a call that is not open and whose stream ID is not new. They are
// a protocol error unless they are trailers that crossed the server's end of the call.
func (c *conn) lateHeaders(id uint32, last bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch call, known := c.closed.find(id); {
	case !known:
		return connFault(http2.ErrCodeProtocol, "received an illegal stream id: %d", id)
	case !call.early:
		return connFault(http2.ErrCodeStreamClosed, "headers after the end of stream %d", id)
	case !last:
		return callFault(id, http2.ErrCodeProtocol, "trailers without the end")
	}
	return c.lateFrame()
}
