package grpcwire

import "golang.org/x/net/http2"

// mostClosed is how many calls that have ended are remembered. What a client sends on an older one
// is treated as on a stream that it never opened.
const mostClosed = 64

// closedCalls remembers how the last calls ended. conn.mu guards it.
type closedCalls struct {
	last [mostClosed]closedCall
	next int
}

type closedCall struct {
	id uint32
	// early: the server was the first to end the call. Frames of the client may still be on their
	// way, and are no breach.
	early bool
}

func (cs *closedCalls) add(id uint32, early bool) {
	cs.last[cs.next] = closedCall{id, early}
	cs.next = (cs.next + 1) % mostClosed
}

// giveUp notes that the client has ended a call, too: nothing of it is on its way any more.
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

// lateFrame takes a frame for a call that is not open. Each frame that the server has sent excuses
// one: it may have crossed it. Others are taken from a budget. mu is held.
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

// lateData takes data for a call that is not open.
func (c *conn) lateData(id uint32) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if call, known := c.closed.find(id); known && !call.early {
		return callFault(id, http2.ErrCodeStreamClosed, "data after the end")
	}
	return c.lateFrame()
}

// lateHeaders takes headers for a stream that is not above all others and not open. Only trailers
// that crossed the server's end of the call are no breach.
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
