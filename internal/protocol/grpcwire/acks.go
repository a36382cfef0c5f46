package grpcwire

import (
	"time"

	"golang.org/x/net/http2"
)

// ackWait is how long the answer to a ping may wait for something else to be
// written.
const ackWait = 5 * time.Millisecond

// ackTimer sees to answers to pings that find no company. conn.mu guards it.
type ackTimer struct {
	timer *time.Timer // nil: never needed
	set   bool
}

// ack answers a ping. Some clients send one with nearly every request to measure
// the connection: while calls are open the answer leaves with the next frame
// that is written, which spares both sides a system call, and the client a change of
// goroutine. mu is held.
func (c *conn) ack(payload []byte) {
	o, a := &c.out, &c.acks
	before := o.begin()
	b := appendFrame(before, http2.FramePing, http2.FlagPingAck, 0, payload...)
	if len(c.calls) == 0 || len(before) != o.idle || o.failed {
		o.end(b)
		return
	}
	o.buf.b, o.idle = b, len(b)
	if a.set {
		return
	}
	a.set = true
	if a.timer == nil {
		a.timer = time.AfterFunc(ackWait, c.acksDue)
	} else {
		a.timer.Reset(ackWait)
	}
}

// acksDue has answers to pings written that wait. It runs on a timer's goroutine.
func (c *conn) acksDue() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acks.set = false
	if c.out.idle > 0 {
		c.out.idle = 0
		c.out.signal()
	}
}
