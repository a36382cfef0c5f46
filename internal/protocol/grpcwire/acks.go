package grpcwire

import (
	"time"

	"golang.org/x/net/http2"
)

// ackWait is how long the answer to a ping may wait for other output to leave with.
const ackWait = 5 * time.Millisecond

// ackTimer writes the answers to pings that no other output has taken along. conn.mu guards it.
type ackTimer struct {
	timer *time.Timer // nil: never needed
	set   bool
}

// ack answers a ping. Some clients send a ping with nearly every request to measure the connection.
// While calls are open, the answer leaves with the next frame that is written, which saves both
// sides a system call and the client a goroutine switch. The caller holds mu.
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

// acksDue lets the writer write the delayed answers to pings. It runs on a timer's goroutine.
func (c *conn) acksDue() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acks.set = false
	if c.out.idle > 0 {
		c.out.idle = 0
		c.out.signal()
	}
}
